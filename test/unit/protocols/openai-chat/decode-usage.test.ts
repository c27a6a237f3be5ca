// Conservation: whatever an upstream counts, the parts are never negative and add up to its totals.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { inputTokens, outputTokens } from '../../../../src/canonical/index.ts';
import { decodeUsage } from '../../../../src/protocols/openai-chat/answers/decode-usage.ts';

const tokens = fc.nat({ max: 5000 });
const maybe = fc.option(tokens, { nil: undefined });

test('parts add up to the totals of the upstream', () => {
  fc.assert(
    fc.property(
      fc.record({
        prompt_tokens: tokens,
        completion_tokens: tokens,
        hidden: fc.option(tokens, { nil: 0 }),
        cached_tokens: maybe,
        cache_write_tokens: maybe,
        audio_tokens: maybe,
        image_tokens: maybe,
        reasoning_tokens: maybe,
      }),
      ({ prompt_tokens, completion_tokens, hidden, reasoning_tokens, ...promptDetails }) => {
        const total_tokens = prompt_tokens + completion_tokens + hidden;
        const usage = decodeUsage({
          prompt_tokens,
          completion_tokens,
          total_tokens,
          prompt_tokens_details: promptDetails,
          completion_tokens_details: { reasoning_tokens, audio_tokens: promptDetails.audio_tokens },
        });
        for (const count of [...Object.values(usage.input), ...Object.values(usage.output)]) {
          expect(count).toBeGreaterThanOrEqual(0);
        }
        if (total_tokens > 0) expect(inputTokens(usage) + outputTokens(usage)).toBe(total_tokens);
      },
    ),
  );
});

test('unknown values count as zero', () => {
  for (const raw of [null, 'many', [], { prompt_tokens: '7', completion_tokens: -3, total_tokens: null }]) {
    const usage = decodeUsage(raw);
    expect(inputTokens(usage) + outputTokens(usage)).toBe(0);
    expect(usage.raw).toEqual(raw);
  }
});
