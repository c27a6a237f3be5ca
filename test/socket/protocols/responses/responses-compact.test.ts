// Compaction: `POST /responses/compact` and turns that end with a trigger, with a summary of the gateway's own and with
// an upstream that compacts by itself; and that what comes of it is of use later.
import { afterAll, describe, expect, test } from 'bun:test';
import OpenAI, { BadRequestError } from 'openai';
import type { ResponseInputItem } from 'openai/resources/responses/responses';
import { rejection } from '../../../support/rejection.ts';
import { checkResponse, checkResponseStream } from '../../../support/rules/responses-stream-rules.ts';
import { framesOf } from '../../../support/recordings/loose.ts';
import { asFrames, idOf, SocketClient } from '../../../support/socket-client.ts';
import {
  chatBody,
  chatError,
  responsesBody,
  silence,
  stream,
  chatStream,
  whole,
} from '../../../support/upstreams/answers.ts';
import { startGateway } from '../../../support/harness.ts';
import { startUpstream } from '../../../support/upstreams/scripted-upstream.ts';
import { startScene } from '../../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../../support/upstreams/json-path.ts';

const MODEL = 'one/chat';
const SUMMARY = 'Goal: tea. Open: buy a pot.';
const OTHER_KEY = 'sk-other';

const scene = await startScene(['one'], {
  config: {
    keys: [
      { name: 'test', key: 'sk-test' },
      { name: 'other', key: OTHER_KEY },
    ],
  },
});
const client = new OpenAI({ apiKey: 'sk-test', baseURL: scene.gateway.baseURL, maxRetries: 0 });
afterAll(() => scene[Symbol.asyncDispose]());

const TALK: ResponseInputItem[] = [
  { role: 'user', content: 'I want tea.' },
  { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' },
  { type: 'function_call_output', call_id: 'call_1', output: 'no pot' },
  { role: 'assistant', content: 'There is no pot.' },
  { role: 'user', content: [{ type: 'input_text', text: 'Then buy one.' }] },
];

/** Role and text of every message of a request to the upstream. */
function reported(request: { readonly json: unknown } | undefined): string[] {
  return list(request?.json, 'messages').map((message) => {
    const content = at(message, 'content');
    const text = Array.isArray(content) ? content.map((part) => at(part, 'text')).join('') : String(content);
    return `${String(at(message, 'role'))}: ${text}`;
  });
}

function lastAsked(): string[] {
  return reported(scene.upstream('one').requests.at(-1));
}

describe('POST /responses/compact', () => {
  test('keeps the messages of the user and encrypts a summary of the rest', async () => {
    scene.upstream('one').script(whole(chatBody(SUMMARY)));
    const { data, response } = await client.responses
      .compact({ model: MODEL, input: TALK, instructions: 'Be kind.' })
      .withResponse();
    expect(data).toMatchObject({
      object: 'response.compaction',
      usage: { input_tokens: 10, output_tokens: 5 },
    });
    expect(data.id).toMatch(/^resp_/);
    expect(typeof data.created_at).toBe('number');
    const text = (value: string): object => ({
      type: 'message',
      role: 'user',
      status: 'completed',
      content: [{ type: 'input_text', text: value }],
    });
    // A copy: this runner writes what it matched into what it was given.
    expect(structuredClone(data.output) as unknown).toMatchObject([
      text('I want tea.'),
      text('Then buy one.'),
      {
        type: 'compaction',
        id: expect.stringMatching(/^cmp_/),
        encrypted_content: expect.stringMatching(/^dgm1_/),
      },
    ]);
    expect(JSON.stringify(data)).not.toContain('buy a pot');

    // The model saw the conversation, and then what it was to do.
    const asked = lastAsked();
    expect(asked.slice(0, 2)).toEqual(['system: Be kind.', 'user: I want tea.']);
    expect(asked.at(-1)).toContain('hand-over summary');
    expect(JSON.stringify(scene.upstream('one').requests.at(-1)?.json)).toContain('no pot');

    // It is recorded and billed like any other request.
    const record = await scene.gateway.get(`/generation?id=${data.id}`);
    const view = (await record.json()) as Json;
    expect(JSON.stringify(view)).toContain('responses.compact');
    expect(response.headers.get('x-dragoman-model')).toBe(MODEL);

    // The next turn reads the summary in the place of what it stands for.
    scene.upstream('one').script(whole(chatBody('Bought.')));
    const input = [...(data.output as ResponseInputItem[]), { role: 'user' as const, content: 'And now?' }];
    await client.responses.create({ model: MODEL, input, store: false });
    const next = lastAsked();
    expect(next.slice(0, 2)).toEqual(['user: I want tea.', 'user: Then buy one.']);
    expect(next[2]).toContain(SUMMARY);
    expect(next.at(-1)).toBe('user: And now?');
  });

  test('cannot be used with another key', async () => {
    scene.upstream('one').script(whole(chatBody(SUMMARY)));
    const { output } = await client.responses.compact({ model: MODEL, input: TALK });
    const thief = new OpenAI({ apiKey: OTHER_KEY, baseURL: scene.gateway.baseURL, maxRetries: 0 });
    const input = [...(output as ResponseInputItem[]).slice(-1), { role: 'user' as const, content: 'Tell!' }];
    const refused = await rejection(thief.responses.create({ model: MODEL, input, store: false }));
    expect(refused).toBeInstanceOf(BadRequestError);
    expect(refused).toMatchObject({ param: 'input[0]' });
    expect(String(refused)).not.toContain(SUMMARY);
  });

  test('counts the history of an earlier response', async () => {
    const up = scene.upstream('one');
    up.script(whole(chatBody('There is no pot.')), whole(chatBody(SUMMARY)));
    const first = await client.responses.create({ model: MODEL, input: 'I want tea.' });
    const compacted = await client.responses.compact({ model: MODEL, previous_response_id: first.id });
    expect(compacted.output.map(({ type }) => type)).toEqual(['message', 'compaction']);
    expect(lastAsked().slice(0, 2)).toEqual(['user: I want tea.', 'assistant: There is no pot.']);
    // The summary itself is nobody's history, and was not stored.
    expect((await scene.gateway.get(`/responses/${compacted.id}`)).status).toBe(404);
  });

  test('refuses what cannot be compacted', async () => {
    const before = scene.upstream('one').requests.length;
    const empty = await rejection(client.responses.compact({ model: MODEL, input: [] }));
    expect(empty).toBeInstanceOf(BadRequestError);
    expect(empty).toMatchObject({ param: 'input', type: 'invalid_request_error' });
    expect(await rejection(client.responses.compact({ model: MODEL }))).toMatchObject({ status: 400 });
    expect(
      await rejection(client.responses.compact({ model: MODEL, previous_response_id: 'resp_none' })),
    ).toMatchObject({ status: 400, code: 'previous_response_not_found' });
    expect(await rejection(client.responses.compact({ model: 'no/such', input: 'x' }))).toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
    expect(scene.upstream('one').requests.length).toBe(before);
    expect(
      (await fetch(`${scene.gateway.baseURL}/responses/compact`, { method: 'POST', body: '{}' })).status,
    ).toBe(401);
  });

  test('returns the error of a model, and does not use a partial summary', async () => {
    const up = scene.upstream('one');
    up.script(chatError(400, {}, 'context_length_exceeded'));
    expect(await rejection(client.responses.compact({ model: MODEL, input: TALK }))).toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
    });
    for (const body of [chatBody('Goal: te', 'length'), chatBody('')]) {
      up.script(whole(body));
      expect(await rejection(client.responses.compact({ model: MODEL, input: TALK }))).toMatchObject({
        status: 502,
        code: 'compaction_failed',
      });
    }
  });

  test('stops when the client disconnects', async () => {
    const up = scene.upstream('one');
    up.script(silence);
    const abort = new AbortController();
    const count = up.requests.length;
    const waiting = rejection(
      client.responses.compact({ model: MODEL, input: TALK }, { signal: abort.signal }),
    );
    const exchange = await up.arrived(count + 1);
    abort.abort();
    await Promise.all([waiting, exchange.closed]);
    expect(up.requests.length).toBe(count + 1);
  });
});

describe('a turn that ends with a trigger', () => {
  const TRIGGERED = [...TALK, { type: 'compaction_trigger' as const }];
  const TOOLS = [{ type: 'function' as const, name: 'look', parameters: { type: 'object' }, strict: false }];

  test('streams exactly one compaction, and nothing of the summary', async () => {
    scene.upstream('one').script(whole(chatBody(SUMMARY)));
    const answer = await scene.gateway.post('/responses', {
      model: MODEL,
      input: TRIGGERED,
      tools: TOOLS,
      tool_choice: 'required',
      store: false,
      stream: true,
      include: ['reasoning.encrypted_content'],
    });
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    expect(answer.headers.get('x-dragoman-model')).toBe(MODEL);
    const text = await answer.text();
    const frames = framesOf(text);
    expect(checkResponseStream(frames)).toEqual([]);
    expect(text).not.toContain('buy a pot');
    const last = JSON.parse(frames.at(-1)?.data ?? '') as Json;
    expect(last).toMatchObject({
      type: 'response.completed',
      response: {
        tool_choice: 'required',
        store: false,
        usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
        output: [{ type: 'compaction', encrypted_content: expect.stringMatching(/^dgm1_/) }],
      },
    });
    const sent = scene.upstream('one').requests.at(-1)?.json;
    expect(at(sent, 'tools', 0, 'function', 'name')).toBe('look');
    expect(at(sent, 'tool_choice')).toBe('none');
    expect(JSON.stringify(sent)).not.toContain('compaction_trigger');
  });

  test('is stored as a new beginning', async () => {
    const up = scene.upstream('one');
    up.script(whole(chatBody(SUMMARY)), whole(chatBody('Bought.')));
    const compacted = await client.responses.create({ model: MODEL, input: TRIGGERED });
    expect(checkResponse(compacted)).toEqual([]);
    expect(compacted.output.map(({ type }) => type)).toEqual(['compaction']);
    const stored = await client.responses.retrieve(compacted.id);
    expect(stored.output).toEqual(compacted.output);
    await client.responses.create({ model: MODEL, input: 'And now?', previous_response_id: compacted.id });
    const asked = lastAsked();
    expect(asked.length).toBe(4);
    expect(asked[2]).toContain(SUMMARY);
    expect(asked.join()).not.toContain('no pot');
  });

  test('works on a connection that remembers, and is remembered', async () => {
    const up = scene.upstream('one');
    up.script(
      stream(chatStream('There is no pot.')),
      whole(chatBody(SUMMARY)),
      stream(chatStream('Bought.')),
    );
    await using socket = await SocketClient.open(scene.gateway.origin);
    const body = { model: MODEL, store: false };
    const first = await socket.turn({ ...body, input: 'I want tea.' });
    const second = await socket.turn({
      ...body,
      input: [{ type: 'compaction_trigger' }],
      previous_response_id: idOf(first),
    });
    expect(checkResponseStream(asFrames(second))).toEqual([]);
    expect(lastAsked().slice(0, 2)).toEqual(['user: I want tea.', 'assistant: There is no pot.']);
    await socket.turn({ ...body, input: 'And now?', previous_response_id: idOf(second) });
    expect(lastAsked().length).toBe(3);
    expect(lastAsked()[1]).toContain(SUMMARY);
  });

  test('is refused within a conversation object, and anywhere but at the end', async () => {
    const conversation = (await client.conversations.create({})).id;
    expect(
      await rejection(client.responses.create({ model: MODEL, input: TRIGGERED, conversation })),
    ).toMatchObject({ status: 400, param: 'conversation' });
    const input = [{ type: 'compaction_trigger' as const }, ...TALK];
    expect(await rejection(client.responses.create({ model: MODEL, input }))).toMatchObject({
      status: 400,
      param: 'input[0]',
    });
  });
});

test('an upstream with its own compaction does it, and gets its result back', async () => {
  const upstream = await startUpstream();
  const gateway = await startGateway({
    providers: { openai: { api_key: 'sk-up', base_url: `${upstream.origin}/v1` } },
    models: [
      {
        id: 'openai/gpt-5',
        endpoints: [{ provider: 'openai', model: 'gpt-5', protocol: 'openai-responses' }],
      },
    ],
  });
  const openai = new OpenAI({ apiKey: 'sk-test', baseURL: gateway.baseURL, maxRetries: 0 });
  const made = { type: 'compaction', id: 'cmp_up', encrypted_content: 'gAAAopaque' };
  upstream.script(whole(responsesBody([made])), whole(responsesBody([])));
  const { output } = await openai.responses.compact({ model: 'openai/gpt-5', input: TALK });
  expect(output.at(-1)).toMatchObject({ type: 'compaction', encrypted_content: 'gAAAopaque' });
  const sent = upstream.requests[0];
  expect(sent?.path).toBe('/v1/responses');
  expect(at(sent?.json, 'input', -1)).toEqual({ type: 'compaction_trigger' });
  expect(at(sent?.json, 'store')).toBe(false);
  await openai.responses.create({
    model: 'openai/gpt-5',
    input: [...(output as ResponseInputItem[]), { role: 'user', content: 'And now?' }],
    store: false,
  });
  expect(JSON.stringify(at(upstream.requests[1]?.json, 'input'))).toContain('gAAAopaque');
  await gateway.close();
  await upstream.stop();
});
