// Upstreams that report 0 tokens for an answer with text: a local server that does not count, or a proxy that loses the
// counts. They are estimated as if none were reported, so that the answer is not free.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { stream as sse, whole } from '../../support/upstreams/answers.ts';
import { dialect, streamOf, UPSTREAM_PROTOCOLS } from '../../support/upstreams/dialects.ts';
import { frames, recordOf, startScene, type Scene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at } from '../../support/upstreams/json-path.ts';

const TEXT = 'Once upon a time there was a gateway.';
const MODELS = {
  'openai-chat': 'one/chat',
  'openai-responses': 'one/responses',
  'anthropic-messages': 'one/messages',
  gemini: 'one/gemini',
} as const;

let scene: Scene;
beforeAll(async () => {
  scene = await startScene(['first']);
});
afterAll(() => scene[Symbol.asyncDispose]());

const uncounted = (text: string): string => text.replace(/"(\w*(?:_tokens|TokenCount))":\d+/g, '"$1":0');

describe.each([true, false])('streamed: %p', (stream) => {
  test.each([...UPSTREAM_PROTOCOLS])('an answer whose counts are 0 is estimated (%s)', async (protocol) => {
    const upstream = dialect(protocol, 'up');
    scene
      .upstream('first')
      .script(
        stream
          ? sse(uncounted(streamOf(upstream, TEXT)))
          : whole(uncounted(JSON.stringify(upstream.whole(TEXT)))),
      );
    const response = await scene.gateway.post('/chat/completions', {
      model: MODELS[protocol],
      messages: [{ role: 'user', content: 'Tell me a story.' }],
      stream,
      ...(stream && { stream_options: { include_usage: true } }),
    });
    const text = await response.text();
    const record = await recordOf(scene.gateway, response);
    expect(at(record, 'estimated')).toBe(true);
    const counted = Math.ceil(TEXT.length / 4);
    expect(at(record, 'native_tokens', 'completion_tokens')).toBe(counted);
    expect(at(record, 'native_tokens', 'prompt_tokens')).toBeGreaterThan(0);
    expect(at(record, 'cost', 'usd')).toBeGreaterThan(0);
    // The client sees the counts that are charged.
    const last = stream ? frames(text).at(-2) : (JSON.parse(text) as unknown);
    expect(at(last, 'usage')).toMatchObject({
      prompt_tokens: at(record, 'native_tokens', 'prompt_tokens'),
      completion_tokens: counted,
    });
  });
});
