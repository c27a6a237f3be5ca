// Responses through the relay lane: what is edited of the client's request and of the upstream's answer, and that
// nothing else is, however the network cuts it.
import { joined } from '../../../src/base/lib/bytes.ts';
import { describe, expect, test } from 'bun:test';
import { jsonBytes, type JsonObject } from '../../../src/base/json/index.ts';
import { type CanonicalRequest, GatewayError } from '../../../src/canonical/index.ts';
import type { RelayFacts, RelayStream } from '../../../src/protocols/index.ts';
import { relay } from '../../../src/protocols/openai-responses/relay.ts';
import { openaiResponses } from '../../../src/protocols/openai-responses/index.ts';
import { bytesOf, missing, readRecordings } from '../../support/recordings/corpus.ts';
import { framesOf, word } from '../../support/recordings/loose.ts';
import { readResponses } from '../../support/recordings/read-responses.ts';
import { checkResponseStream } from '../../support/rules/responses-stream-rules.ts';

const FACTS: RelayFacts = {
  id: 'gen1',
  model: 'openai/x',
  showUsage: true,
  store: true,
  redact: (json) => json,
};

function decode(body: JsonObject): ReturnType<typeof openaiResponses.server.decodeRequest> {
  return openaiResponses.server.decodeRequest({ model: 'm', input: 'hi', ...body });
}

function relayed(text: string, request: CanonicalRequest): string {
  return joined(relay.editRequest(jsonBytes(Buffer.from(text)), request, 'gpt-x')).toString();
}

function edited(body: JsonObject): unknown {
  const text = JSON.stringify({ model: 'm', input: 'hi', ...body });
  return JSON.parse(relayed(text, decode(body)));
}

describe('a request', () => {
  test('changes only in its model, in `store`, and in members for the gateway', () => {
    const kept = {
      prompt_cache_key: 'k',
      user: 'u',
      service_tier: 'flex',
      metadata: { a: 'b' },
      include: ['reasoning.encrypted_content'],
      later_member: 1,
    };
    const removed = {
      provider: {},
      models: ['a'],
      usage: { include: true },
      background: false,
      stream_options: { include_usage: true },
      stream: true,
    };
    expect(edited({ ...kept, ...removed })).toEqual({
      model: 'gpt-x',
      input: 'hi',
      ...kept,
      stream: true,
      store: false,
    });
  });

  test('keeps every other byte', () => {
    const text = '{ "input" : "h\\u00e9llo", "model":"m",\n "store": false, "x": 1.0 }';
    const request = openaiResponses.server.decodeRequest(JSON.parse(text));
    expect(relayed(text, request)).toBe(text.replace('"m"', '"gpt-x"'));
  });

  test.each<[string, JsonObject, boolean]>([
    ['plain', {}, true],
    ['reasoning', { reasoning: { effort: 'low', summary: 'auto' } }, true],
    ['tools of the owner', { tools: [{ type: 'shell' }, { type: 'web_search' }] }, true],
    ['an unknown item', { input: [{ type: 'brand_new' }] }, true],
    ['a previous response', { previous_response_id: 'resp_1' }, false],
    ['a conversation', { conversation: 'conv_1' }, false],
    ['a prompt', { prompt: { id: 'p' } }, false],
    ['truncation', { truncation: 'auto' }, false],
    ['a reference', { input: [{ type: 'item_reference', id: 'x' }] }, false],
    [
      'a file of the gateway',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }] },
      false,
    ],
    ['a tool that the owner alone runs', { tools: [{ type: 'file_search' }] }, true],
    ['reasoning of another dialect', { reasoning: { max_tokens: 100 } }, false],
  ])('with %s is relayed or not', (_, body, taken) => {
    expect(relay.accepts(decode(body))).toBe(taken);
  });
});

const frame = (type: string, members: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
const response = { id: 'resp_up', object: 'response', model: 'gpt-x-2026', store: false, output: [] };
const OPENING =
  frame('response.created', { response, sequence_number: 0 }) +
  frame('response.in_progress', { response, sequence_number: 1 }) +
  frame('response.output_item.added', {
    output_index: 0,
    item: { id: 'msg_1', type: 'message', role: 'assistant', content: [] },
    sequence_number: 2,
  }) +
  frame('response.content_part.added', { item_id: 'msg_1', part: {}, sequence_number: 3 });
const delta = (text: string, n: number): string =>
  frame('response.output_text.delta', { item_id: 'msg_1', delta: text, sequence_number: n });

/** Sends bytes in pieces; returns what passed at once, and at the end. */
function pass(stream: RelayStream, bytes: string, size: number): { live: string; whole: string } {
  let live = '';
  for (let at = 0; at < bytes.length && !stream.done && !stream.error; at += size)
    live += stream.push(bytes.slice(at, at + size));
  return { live, whole: live + (stream.error ? '' : stream.end()) };
}

describe('a stream', () => {
  test('is committed by its first content, not by the events before it', () => {
    const stream = relay.openStream(FACTS);
    expect(stream.push(OPENING)).toBe('');
    expect(stream.committed).toBe(false);
    expect(stream.push(delta('a', 4))).toStartWith('event: response.created');
    expect(stream.committed).toBe(true);
  });

  test('a failure before content sends nothing; after content, it is sent as the upstream wrote it', () => {
    const failed = frame('response.failed', {
      response: { ...response, status: 'failed', error: { code: 'server_error', message: 'broken' } },
      sequence_number: 5,
    });
    const early = relay.openStream(FACTS);
    expect(early.push(OPENING + failed)).toBe('');
    expect([early.error?.message, early.errorShown]).toEqual(['broken', false]);
    const late = relay.openStream(FACTS);
    const out = late.push(OPENING + delta('a', 4) + failed);
    expect([late.error?.message, late.errorShown]).toEqual(['broken', true]);
    expect(out).toContain('"id":"resp_gen1"');
    expect(framesOf(out).at(-1)?.event).toBe('response.failed');
  });

  test('an error and the response that failed through it both pass', () => {
    const stream = relay.openStream(FACTS);
    const out = stream.push(
      OPENING +
        delta('a', 4) +
        frame('error', {
          code: 'rate_limit_exceeded',
          message: 'slow down',
          param: null,
          sequence_number: 5,
        }) +
        frame('response.failed', { response: { ...response, status: 'failed' }, sequence_number: 6 }),
    );
    expect(
      framesOf(out)
        .map((each) => each.event)
        .slice(-2),
    ).toEqual(['error', 'response.failed']);
    expect(stream.error?.kind).toBe('rate_limited');
  });

  test('an error alone is followed by the response that failed through it', () => {
    const stream = relay.openStream(FACTS);
    const error = { code: 'server_error', message: 'broken', param: null, sequence_number: 5 };
    let out = stream.push(OPENING + delta('a', 4) + frame('error', error));
    expect([stream.error?.message, stream.errorShown]).toEqual(['broken', false]);
    out += stream.fail?.(stream.error ?? new GatewayError('internal', 'none')) ?? '';
    const [reported, failed] = framesOf(out).slice(-2);
    expect(JSON.parse(reported?.data ?? '')).toMatchObject(error);
    expect(JSON.parse(failed?.data ?? '')).toMatchObject({
      type: 'response.failed',
      sequence_number: 6,
      response: { status: 'failed', error: { message: 'broken' } },
    });
  });

  test('that is cut off ends with an error event whose number continues', () => {
    const stream = relay.openStream({ ...FACTS, model: 'openai/é' });
    let out = stream.push(OPENING + delta('ä', 4) + delta('b', 5));
    expect(stream.end()).toBe('');
    expect(stream.error?.kind).toBe('upstream_unavailable');
    out += stream.fail?.(new GatewayError('timeout', 'too slow — sorry')) ?? '';
    const frames = framesOf(out).slice(-2);
    const reported = frames.map(({ data }) => JSON.parse(data) as JsonObject);
    expect(reported.map((each) => [each['type'], each['sequence_number']])).toEqual([
      ['error', 6],
      ['response.failed', 7],
    ]);
    expect(reported[0]?.['message']).toBe('too slow — sorry');
    expect(reported[1]?.['response']).toMatchObject({
      id: 'resp_gen1',
      status: 'failed',
      store: true,
      model: 'openai/é',
    });
    expect(stream.fail?.(new GatewayError('timeout', 'again'))).toBe('');
  });

  test('comments, unknown events and line ends of any kind survive', () => {
    const text = `: hi\n\n${OPENING}${delta('a', 4)}: ping\n\n${frame('response.brand_new', { x: 1 })}`;
    for (const end of ['\n', '\r\n', '\r']) {
      const stream = relay.openStream(FACTS);
      const out = stream.push(text.replaceAll('\n', end)) + stream.push(':');
      expect(out).toContain(`: ping${end}${end}event: response.brand_new${end}data: `);
      expect(out.replaceAll(end, '')).not.toMatch(/[\r\n]/);
      expect(out).toContain('response.brand_new');
    }
  });
});

describe.skipIf(missing !== undefined)('recorded answers of OpenAI', () => {
  const recordings = (missing ? [] : readRecordings()).filter(
    ({ api, provider, status, fidelity }) =>
      api === 'responses' && provider === 'openai' && status === 200 && fidelity !== 'sdk',
  );

  test.each([1_000_000, 100, 7])('streams in pieces of %d keep every other byte and legal order', (size) => {
    const streams = recordings.filter((each) => each.stream && framesOf(each.res.text ?? '').length > 0);
    expect(streams.length).toBeGreaterThan(20);
    const failures: string[] = [];
    for (const recording of streams) {
      const bytes = bytesOf(recording).toString('latin1');
      const stream = relay.openStream(FACTS);
      const { whole } = pass(stream, bytes, size);
      const want = framesOf(bytes).map(({ event, data }) => `${event} ${patched(data)}`);
      const got = framesOf(whole).map(({ event, data }) => `${event} ${compact(data)}`);
      if (JSON.stringify(got) !== JSON.stringify(want)) failures.push(`${recording.case}: another stream`);
      const said = readResponses(recording);
      const raw = stream.usage?.raw as { input_tokens?: number } | undefined;
      if (said.tokens && raw?.input_tokens !== said.tokens.prompt) failures.push(`${recording.case}: counts`);
      if (said.end !== 'error' && !stream.finish) failures.push(`${recording.case}: no end`);
    }
    expect(failures).toEqual([]);
  });

  test('whole answers keep every other byte', () => {
    const answers = recordings.filter(
      ({ res }) => res.kind === 'json' && word(res.json?.['status']) !== 'queued',
    );
    expect(answers.length).toBeGreaterThan(50);
    const failures: string[] = [];
    for (const recording of answers) {
      const bytes = bytesOf(recording);
      const json = JSON.parse(bytes.toString()) as JsonObject;
      const { body, tap } = relay.patchResponse(bytes, json, FACTS);
      const { id: _, model: __, store: ___, ...want } = json;
      const { id, model, store, ...got } = JSON.parse(joined(body).toString()) as JsonObject;
      if (JSON.stringify(got) !== JSON.stringify(want)) failures.push(`${recording.case}: another answer`);
      if (id !== 'resp_gen1' || model !== 'openai/x' || store !== true)
        failures.push(`${recording.case}: envelope`);
      if (!tap.finish || !tap.usage) failures.push(`${recording.case}: no end or no counts`);
    }
    expect(failures).toEqual([]);
  });
});

/** The data of an event with our envelope in its response object; members keep their order. */
function patched(data: string): string {
  const json = JSON.parse(data) as JsonObject;
  const { response: answer } = json;
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return data;
  return JSON.stringify({
    ...json,
    response: { ...(answer as JsonObject), id: 'resp_gen1', model: 'openai/x', store: true },
  });
}

/** The same without the spaces of the recording, where our envelope is in it. */
function compact(data: string): string {
  return data.includes('resp_gen1') ? JSON.stringify(JSON.parse(data)) : data;
}

test('a relayed stream is still valid', () => {
  const end = {
    ...response,
    status: 'completed',
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  };
  const stream = relay.openStream(FACTS);
  const text = OPENING + delta('a', 4) + frame('response.completed', { response: end, sequence_number: 5 });
  const out = stream.push(text);
  expect(stream.done).toBe(true);
  // The end is held back until the records are safe.
  expect(out).not.toContain('response.completed');
  const problems = checkResponseStream(framesOf(out + stream.end()));
  expect(problems.filter((each) => /sequence|terminal|event line/.test(each))).toEqual([]);
});
