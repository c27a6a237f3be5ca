// Hostile upstreams: whatever arrives, decoding ends in exactly one way and throws nothing of its own.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { CanonicalEvent, EventSink } from '../../../src/canonical/index.ts';
import { Collector, GatewayError, Report } from '../../../src/canonical/index.ts';
import { codecContext, fillRequest, fillTarget } from '../../support/golden-operations.ts';
import { openaiChat } from '../../../src/protocols/openai-chat/index.ts';
import { casesOf } from '../../support/share.ts';

/** JSON whose keys are likely to be looked at. */
const member = fc.constantFrom(
  'id',
  'model',
  'choices',
  'delta',
  'message',
  'content',
  'refusal',
  'reasoning',
  'reasoning_details',
  'tool_calls',
  'function',
  'function_call',
  'name',
  'arguments',
  'index',
  'type',
  'text',
  'signature',
  'data',
  'finish_reason',
  'usage',
  'prompt_tokens',
  'annotations',
  'url',
  'error',
  'logprobs',
  'search_results',
);
const { value: json } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6 },
    fc.constantFrom(
      null,
      true,
      0,
      1,
      -1,
      '',
      'reasoning.text',
      'reasoning.summary',
      'stop',
      'function',
      '{"a":',
    ),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(member, tie('value'), { maxKeys: 5 }),
  ),
}));
/** Something that gets as far as a choice. */
const chunk = fc.record({
  id: json,
  usage: json,
  choices: fc.array(
    fc.record({ index: fc.constantFrom(0, 1, null), delta: json, message: json, finish_reason: json }),
    { maxLength: 2 },
  ),
});

class EndCounter implements EventSink {
  readonly types: string[] = [];
  on(event: CanonicalEvent): void {
    this.types.push(event.type);
  }
  get ends(): number {
    return this.types.filter((type) => type === 'finish' || type === 'error').length;
  }
}

test('a stream of anything ends exactly once, with its end as the last event', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(json, chunk), { maxLength: 6 }), fc.boolean(), (frames, done) => {
      const sink = new EndCounter();
      const decoder = openaiChat.upstream.decodeStream(sink, codecContext());
      try {
        for (const frame of frames) decoder.frame('', JSON.stringify(frame));
        if (done) decoder.frame('', '[DONE]');
        decoder.end();
        decoder.end();
      } catch (error) {
        // A call without a name: who reads the stream ends it with this error.
        expect(GatewayError.is(error)).toBe(true);
        expect(sink.ends).toBe(0);
        return;
      }
      expect(sink.ends).toBe(1);
      expect(['finish', 'error']).toContain(sink.types.at(-1) ?? '');
    }),
    { numRuns: casesOf(500) },
  );
});

test('a body of anything is an answer or a GatewayError', () => {
  fc.assert(
    fc.property(fc.oneof(json, chunk), (body) => {
      const sink = new EndCounter();
      try {
        openaiChat.upstream.decodeResponse(body, sink, codecContext());
      } catch (error) {
        expect(GatewayError.is(error)).toBe(true);
        expect(sink.ends).toBe(0);
        return;
      }
      expect(sink.types[0]).toBe('start');
      expect(sink.types.at(-1)).toBe('finish');
      expect(sink.ends).toBe(1);
    }),
    { numRuns: casesOf(500) },
  );
});

test('a response that is split into deltas anywhere equals the whole response', () => {
  fc.assert(
    fc.property(
      fc.record({
        reasoning: fc.string(),
        content: fc.string(),
        calls: fc.array(fc.string({ minLength: 1 }), { maxLength: 3 }),
      }),
      fc.integer({ min: 1, max: 7 }),
      ({ reasoning, content, calls }, size) => {
        const tool_calls = calls.map((text, index) => ({
          index,
          id: `call_${index}`,
          type: 'function',
          function: { name: `f${index}`, arguments: text },
        }));
        const whole = new Collector();
        const message = { role: 'assistant', content, reasoning_content: reasoning, tool_calls };
        openaiChat.upstream.decodeResponse(
          { id: 'c', choices: [{ index: 0, message, finish_reason: 'stop' }] },
          whole,
          codecContext(),
        );

        const streamed = new Collector();
        const decoder = openaiChat.upstream.decodeStream(streamed, codecContext());
        const send = (delta: object, finish_reason: string | null = null): void =>
          decoder.frame('', JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason }] }));
        send({ role: 'assistant', content: '' });
        for (const reasoning_content of pieces(reasoning, size)) send({ reasoning_content });
        for (const piece of pieces(content, size)) send({ content: piece });
        for (const { function: called, ...rest } of tool_calls) {
          send({ tool_calls: [{ ...rest, function: { ...called, arguments: '' } }] });
          for (const piece of pieces(called.arguments, size))
            send({ tool_calls: [{ index: rest.index, function: { arguments: piece } }] });
        }
        send({}, 'stop');
        decoder.frame('', '[DONE]');
        expect(streamed.result()).toEqual(whole.result());
      },
    ),
  );
});

test('extra members never replace members of the gateway', () => {
  const report = new Report();
  const request = fillRequest({
    extra: JSON.parse('{"model":"x","messages":[],"__proto__":{"stream":true},"min_p":0.1}'),
  });
  const body = openaiChat.upstream.encodeRequest(request, fillTarget({}), report);
  expect(JSON.stringify(body)).toBe('{"model":"upstream-model","messages":[],"min_p":0.1}');
  expect(report.entries.map((entry) => entry.path).sort()).toEqual(['__proto__', 'messages', 'model']);
});

function pieces(text: string, size: number): string[] {
  const result: string[] = [];
  for (let at = 0; at < text.length; at += size) result.push(text.slice(at, at + size));
  return result;
}
