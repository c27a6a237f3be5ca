// The relay lane of the Messages API: the message's id and model are the gateway's, every other byte is the upstream's,
// errors included; and what must not be relayed is not.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { joined } from '../../../../src/base/lib/bytes.ts';
import type { CanonicalRequest, CollectedEvents, EventSink } from '../../../../src/canonical/index.ts';
import { Collector } from '../../../../src/canonical/index.ts';
import { anthropicMessages } from '../../../../src/protocols/anthropic-messages/index.ts';
import type { RelayCodec, RelayFacts } from '../../../../src/protocols/protocol.ts';
import { codecContext, fillTarget } from '../../../support/golden-operations.ts';
import { startGateway, type TestGateway } from '../../../support/harness.ts';
import { readErrorBody, readMessagesStream } from '../../../support/rules/messages-stream-rules.ts';
import { bytesOf, missing, readRecordings } from '../../../support/recordings/corpus.ts';
import type { Recording } from '../../../support/recordings/corpus.ts';
import { startUpstream, type ScriptedUpstream } from '../../../support/upstreams/scripted-upstream.ts';

const relay = anthropicMessages.relay as RelayCodec;
const facts: RelayFacts = { id: 'gen-1', model: 'gateway/model', showUsage: true, redact: (json) => json };
const latin = (bytes: Buffer): string => bytes.toString('latin1');

/** Fixtures that are no answer of Anthropic's own as it came over the wire. */
function isWire({ api, provider, status, fidelity }: Recording): boolean {
  return api === 'messages' && provider === 'anthropic' && status === 200 && fidelity === 'wire';
}

describe.skipIf(missing !== undefined)('recorded answers', () => {
  const recordings = missing ? [] : readRecordings().filter(isWire);

  test.each([1, 7, 1000])('streams in pieces of %d keep every byte but id and model', (size) => {
    let checked = 0;
    for (const recording of recordings) {
      if (!recording.stream) continue;
      const text = latin(bytesOf(recording));
      if (size === 1 && text.length > 20_000) continue;
      const stream = relay.openStream(facts);
      let out = '';
      for (let at = 0; at < text.length && !stream.done; at += size)
        out += stream.push(text.slice(at, at + size));
      out += stream.end();
      expect(stream.error).toBeUndefined();
      expect(out).toBe(patched(text));
      const { usage, finish, start } = decoded(recording);
      expect(stream.usage).toEqual(usage);
      expect(stream.finish).toEqual(finish && { ...finish, refusalCategory: undefined, source: undefined });
      expect(stream.upstreamId).toBe(start.id);
      expect(stream.outputChars).toBeGreaterThan(0);
      checked++;
    }
    expect(checked).toBeGreaterThan(size === 1 ? 20 : 40);
  });

  test('line ends are unchanged', () => {
    const recording = recordings.find(({ stream }) => stream);
    const text = recording ? latin(bytesOf(recording)).replaceAll('\n', '\r\n') : '';
    for (const size of [1, 1000]) {
      const stream = relay.openStream(facts);
      let out = '';
      for (let at = 0; at < text.length; at += size) out += stream.push(text.slice(at, at + size));
      expect(out + stream.end()).toBe(patched(text));
      expect(stream.error).toBeUndefined();
    }
  });

  test('whole answers keep every byte but id and model', () => {
    let checked = 0;
    for (const recording of recordings) {
      if (recording.stream) continue;
      const bytes = bytesOf(recording);
      const { body, tap } = relay.patchResponse(bytes, JSON.parse(bytes.toString()), facts);
      expect(latin(joined(body))).toBe(patched(latin(bytes)));
      const { usage, finish } = decoded(recording);
      expect(tap.usage).toEqual(usage);
      expect(tap.finish).toEqual(finish);
      checked++;
    }
    expect(checked).toBeGreaterThan(50);
  });

  test('a stream that is cut before its stop reason is an error', () => {
    const recording = recordings.find(({ stream }) => stream);
    const text = recording ? latin(bytesOf(recording)) : '';
    const stream = relay.openStream(facts);
    stream.push(text.slice(0, text.indexOf('event: message_delta')));
    stream.end();
    expect(stream.error?.kind).toBe('upstream_unavailable');
  });
});

/** The recording with the gateway's id and model, by the plainest means: both stand in the message alone. */
function patched(text: string): string {
  let out = text;
  for (const [name, value] of [
    ['id', `msg_${facts.id}`],
    ['model', facts.model],
  ] as const) {
    const member = name === 'id' ? /"id": ?"msg_[^"]*"/ : /"model": ?"[^"]*"/;
    out = out.replace(member, (found) => found.replace(/"[^"]*"$/, `"${value}"`));
  }
  return out;
}

function decoded(recording: Recording): CollectedEvents {
  const collector = new Collector();
  const sink: EventSink = collector;
  const { upstream } = anthropicMessages;
  const text = bytesOf(recording).toString();
  if (!recording.stream) upstream.decodeResponse(JSON.parse(text), sink, codecContext());
  else {
    const decoder = upstream.decodeStream(sink, codecContext());
    for (const frame of text.split('\n\n')) {
      const data = /^data: ?(.*)$/m.exec(frame)?.[1];
      if (data !== undefined) decoder.frame('', data);
    }
    decoder.end();
  }
  return collector.result();
}

const STREAM = [
  'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}}}\n\n',
  'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hej då"}}\n\n',
];
const REST = [
  'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
  'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"input_tokens":3,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":2}}\n\n',
  'event: message_stop\ndata: {"type":"message_stop"}\n\n',
];
const FAILURE =
  'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}\n\n';
const WHOLE =
  '{"id":"msg_1", "type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Hej"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":2},"new_member":[1, 2]}';

describe('through a gateway', () => {
  let gateway: TestGateway;
  let upstream: ScriptedUpstream;

  beforeAll(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({
      routing: { retries: 0, breaker: { failures: 1000 } },
      providers: {
        up: {
          api_key: 'sk-upstream-test',
          protocols: {
            'anthropic-messages': {
              base_url: upstream.origin,
              faithful: true,
              reasoning_format: 'anthropic-claude-v1',
            },
          },
        },
      },
    });
  });
  afterAll(async () => {
    await gateway.close();
    await upstream.stop();
  });
  beforeEach(() => upstream.script());

  const body =
    '{"model": "up/m",  "max_tokens": 100, "provider": {"hedge": false},\n "messages": [{"role": "user", "content": "Hej"}], "new_member": {"a": 1.50}';

  test('the request is relayed except for the model and the members for the gateway', async () => {
    upstream.script((exchange) => {
      exchange.head(200, { 'content-type': 'application/json', 'content-length': String(WHOLE.length) });
      exchange.raw(WHOLE);
    });
    const response = await gateway.post('/messages', `${body}}`);
    expect(response.headers.get('x-dragoman-lane')).toBe('relay');
    expect(upstream.requests[0]?.path).toBe('/v1/messages');
    expect(upstream.requests[0]?.text).toBe(
      '{"model": "m",  "max_tokens": 100, "messages": [{"role": "user", "content": "Hej"}], "new_member": {"a": 1.50}}',
    );
    const id = `msg_${response.headers.get('request-id')}`;
    expect(await response.text()).toBe(WHOLE.replace('msg_1', id).replace('"model":"m"', '"model":"up/m"'));
  });

  test('the stream passes but for id and model', async () => {
    upstream.script((exchange) => {
      exchange.openStream();
      for (const frame of [...STREAM, ...REST]) exchange.chunk(frame);
      exchange.endStream();
    });
    const response = await gateway.post('/messages', `${body}, "stream": true}`);
    const id = `msg_${response.headers.get('request-id')}`;
    const text = await response.text();
    expect(text).toBe(
      [...STREAM, ...REST].join('').replace('msg_1', id).replace('"model":"m"', '"model":"up/m"'),
    );
    expect(readMessagesStream(text).stopReason).toBe('end_turn');
  });

  test('an error keeps its status and its bytes', async () => {
    const failure =
      '{"type":"error","error":{"type":"invalid_request_error","message":"messages: text content blocks must be non-empty"}, "request_id":"req_1"}';
    upstream.script((exchange) => {
      exchange.head(400, { 'content-type': 'application/json', 'content-length': String(failure.length) });
      exchange.raw(failure);
    });
    const response = await gateway.post('/messages', `${body}}`);
    expect(response.status).toBe(400);
    expect(await response.text()).toBe(failure);
  });

  test('an error after content has the text of the upstream', async () => {
    upstream.script((exchange) => {
      exchange.openStream();
      for (const frame of [...STREAM, FAILURE]) exchange.chunk(frame);
      exchange.endStream();
    });
    const response = await gateway.post('/messages', `${body}, "stream": true}`);
    const text = await response.text();
    expect(text).toEndWith(FAILURE);
    expect(readMessagesStream(text).error?.type).toBe('overloaded_error');
  });

  test('a cut after content becomes an error event', async () => {
    upstream.script((exchange) => {
      exchange.openStream();
      for (const frame of STREAM) exchange.chunk(frame);
      exchange.close();
    });
    const response = await gateway.post('/messages', `${body}, "stream": true}`);
    expect(readMessagesStream(await response.text()).error).not.toBeNull();
  });

  test('an error before content is an error response', async () => {
    upstream.script((exchange) => {
      exchange.openStream();
      exchange.chunk(FAILURE);
      exchange.endStream();
    });
    const response = await gateway.post('/messages', `${body}, "stream": true}`);
    expect(response.status).toBeGreaterThanOrEqual(500);
    readErrorBody((await response.json()) as Record<string, unknown>);
  });

  test.each([
    ["Claude's own thinking passes", { thinking: 'Hm.', signature: 'c2ln' }, 'relay'],
    [
      'thinking of another model is left out',
      { thinking: 'Hm.', signature: 'dragoman:{"format":"openai-responses-v1"}' },
      'translate',
    ],
    ['unsigned thinking is omitted', { thinking: 'Hm.', signature: '' }, 'translate'],
  ])('%s', async (_, thinking, lane) => {
    upstream.script((exchange) => {
      exchange.head(200, { 'content-type': 'application/json', 'content-length': String(WHOLE.length) });
      exchange.raw(WHOLE);
    });
    const response = await gateway.post('/messages', {
      model: 'up/m',
      max_tokens: 100,
      messages: [
        { role: 'user', content: 'Hej' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', ...thinking },
            { type: 'text', text: 'Hej.' },
          ],
        },
        { role: 'user', content: 'And?' },
      ],
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-dragoman-lane')).toBe(lane);
    const report = response.headers.get('x-dragoman-report') ?? '';
    expect(report.includes('messages[1].content[0]:dropped')).toBe(lane === 'translate');
    expect(upstream.requests[0]?.text.includes('"thinking"')).toBe(lane === 'relay');
  });
});

describe("the client's thinking options", () => {
  const decode = (members: object): CanonicalRequest =>
    (anthropicMessages.server as NonNullable<typeof anthropicMessages.server>).decodeRequest({
      model: 'm',
      max_tokens: 4000,
      messages: [{ role: 'user', content: 'x' }],
      ...members,
    });
  const on = { mode: 'on', effort: 'medium', budgetTokens: undefined, summary: undefined } as const;

  test.each([
    ['silence', {}, { reasoningStyle: 'budget', reasoning: { ...on, budgetTokens: 2000 } }, true],
    [
      'a budget that was clamped',
      { thinking: { type: 'enabled', budget_tokens: 9000 } },
      { reasoningStyle: 'budget', reasoning: { ...on, budgetTokens: 3999 } },
      false,
    ],
    [
      'a legal budget',
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
      { reasoningStyle: 'budget', reasoning: { ...on, budgetTokens: 2000 } },
      true,
    ],
    [
      'adaptive thinking',
      { thinking: { type: 'adaptive' } },
      { reasoningStyle: 'effort', reasoning: on },
      true,
    ],
    [
      'adaptive thinking of a model that takes budgets',
      { thinking: { type: 'adaptive' } },
      { reasoningStyle: 'budget', reasoning: { ...on, budgetTokens: 2000 } },
      false,
    ],
    [
      'an effort that the model does not know',
      { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } },
      { reasoningStyle: 'effort', reasoning: { ...on, effort: 'high' } },
      false,
    ],
    [
      'an order that the model cannot follow',
      { thinking: { type: 'disabled' } },
      { reasoningStyle: 'effort', reasoning: { ...on, effort: 'minimal' } },
      false,
    ],
  ] as const)('%s', (_, members, target, expected) => {
    const request = decode(members);
    expect(relay.saysReasoning?.(request, target)).toBe(expected);
    const sent = anthropicMessages.upstream.encodeRequest(request, fillTarget(target), request.report);
    const own = (request.raw['thinking'] ?? undefined) as unknown;
    expect(JSON.stringify(sent['thinking']) === JSON.stringify(own)).toBe(expected);
  });
});
