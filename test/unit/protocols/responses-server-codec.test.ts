// Responses as spoken to clients: bad input always gets a clear error, and no order of events, however strange, becomes
// a stream that a strict client would not accept.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../../src/base/json/index.ts';
import type { CanonicalEvent } from '../../../src/canonical/index.ts';
import { Collector, ERROR_KINDS, GatewayError, NO_USAGE, Report } from '../../../src/canonical/index.ts';
import type { ErrorKind } from '../../../src/canonical/index.ts';
import { REQUEST_FIELDS } from '../../../src/protocols/openai-responses/fields.ts';
import { openaiChat } from '../../../src/protocols/openai-chat/index.ts';
import { openaiResponses } from '../../../src/protocols/openai-responses/index.ts';
import type { AnswerContext } from '../../../src/protocols/protocol.ts';
import { fillTarget } from '../../support/golden-operations.ts';
import { framesOf } from '../../support/recordings/loose.ts';
import { checkResponse, checkResponseStream } from '../../support/rules/responses-stream-rules.ts';
import { casesOf } from '../../support/share.ts';

const { decodeRequest, encodeResponse, encodeStream } = openaiResponses.server;

function refusal(body: unknown): GatewayError | undefined {
  try {
    decodeRequest(body);
    return undefined;
  } catch (error) {
    if (GatewayError.is(error)) return error;
    throw error;
  }
}

/** Every member, every kind of item. */
const FULL: JsonObject = {
  model: 'm',
  instructions: 'be brief',
  input: [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'a' },
        { type: 'input_image', file_id: 'f' },
      ],
    },
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 's' }], encrypted_content: 'e' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'b', annotations: [] }] },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_file', file_data: 'AA==' }] },
    { type: 'shell_call', call_id: 'd', action: { commands: ['ls'] } },
    { type: 'shell_call_output', call_id: 'd', output: [] },
    { type: 'compaction', encrypted_content: 'x' },
    { type: 'item_reference', id: 'i' },
  ],
  tools: [
    { type: 'function', name: 'f', parameters: { type: 'object' } },
    { type: 'custom', name: 'c', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } },
    { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'g' }] },
    { type: 'mcp', server_label: 'l', server_url: 'https://example.com' },
    { type: 'web_search', user_location: { city: 'Rome' }, filters: { allowed_domains: [] } },
    { type: 'computer_use_preview', display_width: 1, display_height: 1, environment: 'mac' },
  ],
  tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] },
  text: { format: { type: 'json_schema', name: 'n', schema: {} }, verbosity: 'low' },
  reasoning: { effort: 'low', summary: 'auto' },
  include: ['reasoning.encrypted_content'],
  presence_penalty: 0.5,
  frequency_penalty: -0.5,
  prompt: { id: 'p', variables: { a: 'b' } },
  conversation: { id: 'conv_1' },
  stream: true,
  stream_options: { include_obfuscation: false },
  metadata: { a: 'b' },
};

describe('decodeRequest', () => {
  test('the full request itself is legal', () => {
    expect(refusal(FULL)).toBeUndefined();
  });

  test('any JSON in place of any node of a full request is decoded or refused by its name', () => {
    const paths = nodePaths(FULL);
    fc.assert(
      fc.property(fc.constantFrom(...paths), fc.jsonValue(), (path, value) => {
        const error = refusal(replaceAt(FULL, path, value as JsonValue));
        if (error) expect([error.status, typeof error.param]).toEqual([400, 'string']);
      }),
      { numRuns: casesOf(2000) },
    );
  });

  test('a decoded request can be encoded for an upstream of the same protocol', () => {
    const { item_reference: _, ...body } = { ...FULL, item_reference: null };
    const input = (FULL['input'] as JsonObject[]).filter((item) => item['type'] !== 'item_reference');
    const request = decodeRequest({ ...body, input });
    const sent = openaiResponses.upstream.encodeRequest(
      request,
      fillTarget({ reasoningFormat: 'openai-responses-v1' }),
      new Report(),
    );
    expect((sent['input'] as JsonObject[]).map((item) => item['type'])).toEqual([
      'message',
      ...input.map((item) => item['type'] ?? 'message'),
    ]);
    expect(sent['tools']).toEqual(FULL['tools']);
    expect(sent['store']).toBe(false);
  });

  test('a wrong type of any member is refused by its name', () => {
    for (const { name } of REQUEST_FIELDS) {
      const error = refusal({ model: 'm', input: 'hi', [name]: [[7]] });
      expect(`${name}: ${error?.param}`).toStartWith(`${name}: ${name}`);
      expect(error?.status).toBe(400);
    }
  });

  test('null is absence', () => {
    const nulls = Object.fromEntries(REQUEST_FIELDS.map(({ name }) => [name, null]));
    const request = decodeRequest({ ...nulls, model: 'm', input: 'hi' });
    expect(request.report.entries).toEqual([]);
    expect(request.state?.store).toBe(true);
  });

  test('a member named __proto__ is refused and changes nothing', () => {
    const body: unknown = JSON.parse('{"model":"m","input":"x","__proto__":{"stream":true}}');
    expect(refusal(body)?.param).toBe('__proto__');
  });
});

test.each([openaiChat, openaiResponses])(
  'every kind of error has the body of an OpenAI error in $name',
  ({ server }) => {
    for (const kind of Object.keys(ERROR_KINDS) as ErrorKind[]) {
      const { status, body } = server.encodeError(new GatewayError(kind, 'text', { param: 'p' }), 'req');
      expect(status).toBe(ERROR_KINDS[kind].status);
      expect(Object.keys(body['error'] as object)).toEqual(['message', 'type', 'param', 'code']);
    }
  },
);

test('items of hosted tools keep the members that the API requires', () => {
  const items = ['code_interpreter_call', 'image_generation_call', 'file_search_call'].map((kind) => {
    const source = { protocol: 'openai-responses' as const, raw: { type: kind, status: 'completed' } };
    return { type: 'hosted_call', kind, source } as const;
  });
  const collector = new Collector();
  collector.on({ type: 'start' });
  items.forEach((item, index) => {
    collector.on({ type: 'open', index, item });
    collector.on({ type: 'close', index });
  });
  collector.on({ type: 'finish', reason: 'stop' });
  const answer = encodeResponse(collector.result(), answerContext());
  expect(checkResponse(answer)).toEqual([]);
  expect(answer['output']).toMatchObject([{ code: null, outputs: null }, { result: null }, { queries: [] }]);
});

function answerContext(): AnswerContext {
  return {
    id: '0199aabbccdd00112233445566778899',
    createdSeconds: 1_700_000_000,
    completedSeconds: 1_700_000_001,
    model: 'm',
    reasoningContentMirror: false,
    request: decodeRequest({
      model: 'm',
      input: 'hi',
      include: ['reasoning.encrypted_content', 'message.output_text.logprobs'],
    }),
  };
}

const word = fc.string({ maxLength: 6, unit: 'grapheme' });
const part = fc.nat({ max: 2 });
/** The content of one item, without its index. */
const SEARCHED: JsonObject = {
  type: 'web_search_call',
  status: 'completed',
  action: { type: 'search', query: 'fog' },
};

const content = fc.oneof(
  fc.record({
    open: fc.record({
      type: fc.constant('message'),
      id: fc.constantFrom('msg_1', 'msg_0123456789abcdef', 'x"y'),
    }),
    events: fc.array(
      fc.oneof(
        fc.record({ type: fc.constant('text'), part, kind: fc.constantFrom('text', 'refusal'), text: word }),
        fc.record({
          type: fc.constant('annotate'),
          part,
          annotation: fc.constant({
            type: 'url_citation',
            url: 'https://e.com',
            title: 't',
            start: 0,
            end: 1,
          }),
        }),
      ),
      { maxLength: 6 },
    ),
  }),
  fc.record({
    open: fc.record({ type: fc.constant('reasoning'), id: fc.constant('rs_0123456789abcdef') }),
    events: fc.array(
      fc.record({
        type: fc.constant('reasoning'),
        part,
        kind: fc.constantFrom('text', 'summary'),
        text: word,
      }),
      { maxLength: 6 },
    ),
  }),
  fc.record({
    open: fc.record({
      type: fc.constant('tool_call'),
      kind: fc.constantFrom('function', 'custom'),
      callId: word,
      name: word,
    }),
    events: fc.array(fc.record({ type: fc.constant('arguments'), text: word }), { maxLength: 4 }),
  }),
  fc.record({
    open: fc.constantFrom<JsonObject>(
      {
        type: 'hosted_call',
        kind: 'web_search_call',
        source: { protocol: 'openai-responses', raw: SEARCHED },
      },
      { type: 'hosted_call', kind: 'x', source: { protocol: 'anthropic-messages', raw: { type: 'x' } } },
      { type: 'unknown', source: { protocol: 'openai-responses', raw: { type: 'new', a: 1 } } },
      { type: 'unknown', source: { protocol: 'openai-chat', raw: { type: 'new' } } },
      { type: 'compaction', encrypted: 'e' },
    ),
    events: fc.constant([]),
  }),
);

/** Items that may be open at once: their events are dealt out by `order`. */
function interleave(
  items: readonly { open: object; events: readonly object[] }[],
  order: readonly number[],
): CanonicalEvent[] {
  const queues = items.map(({ open, events }, index): { type?: string; [member: string]: unknown }[] => [
    { type: 'open', index, item: open },
    ...events.map((event) => ({ ...event, index })),
    { type: 'close', index },
  ]);
  const out: object[] = [];
  let opened = 0;
  for (const number of [...order, ...Array.from({ length: 200 }, () => 0)]) {
    const ready = queues.filter((queue, index) => queue.length > 0 && index <= opened);
    const queue = ready[number % Math.max(1, ready.length)];
    const event = queue?.shift();
    if (!event) break;
    if (event.type === 'open') opened++;
    out.push(event);
  }
  return out as CanonicalEvent[];
}

describe('encodeStream', () => {
  const items = fc.array(content, { maxLength: 5 });
  const order = fc.array(fc.nat({ max: 9 }), { maxLength: 40 });
  const reason = fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter', 'unknown' as const);

  test('any answer is a legal stream, and the same as the whole answer', () => {
    fc.assert(
      fc.property(items, order, reason, (given, deal, finish) => {
        const events: CanonicalEvent[] = [
          { type: 'start' },
          ...interleave(given, deal),
          { type: 'usage', usage: NO_USAGE },
          { type: 'finish', reason: finish },
        ];
        let text = '';
        const encoder = encodeStream((frames) => (text += frames), answerContext());
        const collector = new Collector();
        for (const event of events) {
          encoder.on(event);
          collector.on(event);
        }
        const frames = framesOf(text);
        expect(checkResponseStream(frames)).toEqual([]);
        const whole = encodeResponse(collector.result(), answerContext());
        expect(checkResponse(whole)).toEqual([]);
        const last = JSON.parse(frames.at(-1)?.data ?? '{}') as { response: JsonObject };
        expect(last.response).toEqual(JSON.parse(JSON.stringify(whole)) as JsonObject);
      }),
      { numRuns: casesOf(300) },
    );
  });

  test('an answer that fails anywhere is a legal stream that ends in response.failed', () => {
    fc.assert(
      fc.property(items, order, fc.nat({ max: 20 }), (given, deal, at) => {
        let text = '';
        const encoder = encodeStream((frames) => (text += frames), answerContext());
        for (const event of interleave(given, deal).slice(0, at)) encoder.on(event);
        encoder.on({ type: 'error', error: new GatewayError('timeout', 'too slow') });
        encoder.on({ type: 'finish', reason: 'stop' });
        const frames = framesOf(text);
        expect(checkResponseStream(frames)).toEqual([]);
        expect(frames.at(-1)?.event).toBe('response.failed');
        const count = (name: string): number => frames.filter(({ event }) => event === name).length;
        for (const what of ['output_item', 'content_part', 'reasoning_summary_part'])
          expect(count(`response.${what}.done`)).toBe(count(`response.${what}.added`));
      }),
      { numRuns: casesOf(200) },
    );
  });
});

/** Paths to every node below the root. */
function nodePaths(value: JsonValue, path: readonly (string | number)[] = []): (string | number)[][] {
  const own = path.length > 0 ? [[...path]] : [];
  if (typeof value !== 'object' || value === null) return own;
  const entries: (readonly [string | number, JsonValue | undefined])[] = Array.isArray(value)
    ? value.map((each: JsonValue, index) => [index, each] as const)
    : Object.entries(value);
  return [...own, ...entries.flatMap(([key, each]) => nodePaths(each ?? null, [...path, key]))];
}

function replaceAt(root: JsonValue, path: readonly (string | number)[], value: JsonValue): JsonValue {
  const copy = structuredClone(root) as Record<string | number, JsonValue>;
  let node = copy;
  for (const key of path.slice(0, -1)) node = node[key] as unknown as Record<string | number, JsonValue>;
  const last = path.at(-1);
  if (last !== undefined) node[last] = value;
  return copy as JsonValue;
}
