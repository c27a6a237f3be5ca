// Small things that clients of each vendor rely on: pages of lists, results that name their call, errors that name a member.
import { afterAll, describe, expect, test } from 'bun:test';
import Anthropic, { toFile } from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { framesOf } from '../../support/recordings/loose.ts';
import { chatBody, frame, messagesBody, stream, whole } from '../../support/upstreams/answers.ts';
import { recordOf, startScene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list } from '../../support/upstreams/json-path.ts';

const scene = await startScene(['up']);
afterAll(() => scene[Symbol.asyncDispose]());

test("Google's library reads a list of models page by page", async () => {
  const { gateway } = scene;
  const client = new GoogleGenAI({ apiKey: gateway.key, httpOptions: { baseUrl: gateway.origin } });
  const names = async (pageSize: number): Promise<(string | undefined)[]> => {
    const found = [];
    for await (const { name } of await client.models.list({ config: { pageSize } })) found.push(name);
    return found;
  };
  expect((await client.models.list({ config: { pageSize: 2 } })).page).toHaveLength(2);
  expect(await names(2)).toEqual(await names(1000));
  for (const query of ['pageSize=two', 'pageToken=nothing']) {
    const refused = await fetch(`${gateway.origin}/v1beta/models?${query}`, {
      headers: { 'x-goog-api-key': gateway.key },
    });
    expect([refused.status, at(await refused.json(), 'error', 'status')]).toEqual([400, 'INVALID_ARGUMENT']);
  }
});

describe('a result without the id of its call', () => {
  const call = (id: string, name: string): object => ({
    id,
    type: 'function',
    function: { name, arguments: '{}' },
  });
  const ask = (calls: readonly object[], ...results: readonly object[]): Promise<Response> =>
    scene.gateway.post('/chat/completions', {
      model: 'one/chat',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: null, tool_calls: calls },
        ...results.map((result) => ({ role: 'tool', content: 'ok', ...result })),
      ],
    });

  test('is refused if several calls are open', async () => {
    const refused = await ask([call('call_1', 'f'), call('call_2', 'f')], {});
    expect([refused.status, at(await refused.json(), 'error', 'param')]).toEqual([
      400,
      'messages[2].tool_call_id',
    ]);
  });

  test.each([
    ['one call', [call('call_1', 'f')], [{}]],
    [
      'one of its name',
      [call('call_1', 'f'), call('call_2', 'g')],
      [{ name: 'g' }, { tool_call_id: 'call_1' }],
    ],
    ['one that is left', [call('call_1', 'f'), call('call_2', 'f')], [{ tool_call_id: 'call_2' }, {}]],
  ])('belongs to %s, which is reported', async (_, calls, results) => {
    scene.upstream('up').script(whole(chatBody('Hello')));
    const response = await ask(calls, ...results);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-dragoman-report')).toMatch(/^messages\[\d\]\.tool_call_id:defaulted$/);
  });
});

describe('results of parallel calls with the same id', () => {
  const conversation = [
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: null,
      tool_calls: ['f', 'g'].map((name) => ({
        id: 'call_1',
        type: 'function',
        function: { name, arguments: '{}' },
      })),
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'of f' },
    { role: 'tool', tool_call_id: 'call_1', content: 'of g' },
  ];
  const items = [
    { role: 'user', content: 'Hi' },
    ...['f', 'g'].map((name) => ({ type: 'function_call', call_id: 'call_1', name, arguments: '{}' })),
    ...['of f', 'of g'].map((output) => ({ type: 'function_call_output', call_id: 'call_1', output })),
  ];
  const WAYS = [
    ['/chat/completions', { messages: conversation }],
    ['/responses', { input: items }],
  ] as const;

  test.each(WAYS)('answer them in their order at Anthropic (%s)', async (path, body) => {
    scene.upstream('up').script(whole(messagesBody([{ type: 'text', text: 'Hello' }], 'end_turn')));
    const response = await scene.gateway.post(path, { model: 'one/messages', ...body });
    expect(response.status).toBe(200);
    const turns = list(scene.upstream('up').requests[0]?.json, 'messages');
    const called = list(turns[1], 'content').map((block) => [at(block, 'id'), at(block, 'name')]);
    const names = Object.fromEntries(called) as Record<string, unknown>;
    const results = list(turns[2], 'content').map((block) => [
      names[String(at(block, 'tool_use_id'))],
      at(block, 'content'),
    ]);
    expect(results).toEqual([
      ['f', 'of f'],
      ['g', 'of g'],
    ]);
  });

  test.each(WAYS)('name the functions in their order at Google (%s)', async (path, body) => {
    const parts = [{ text: 'Hello' }];
    scene
      .upstream('up')
      .script(whole({ candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] }));
    const response = await scene.gateway.post(path, { model: 'one/gemini', ...body });
    expect(response.status).toBe(200);
    const contents = list(scene.upstream('up').requests[0]?.json, 'contents');
    const results = list(contents.at(-1), 'parts').map((part) => at(part, 'functionResponse'));
    expect(results.map((result) => [at(result, 'name'), at(result, 'response', 'output')])).toEqual([
      ['f', 'of f'],
      ['g', 'of g'],
    ]);
  });
});

test('an error about an earlier audio answer names its member once', async () => {
  const refused = await scene.gateway.post('/chat/completions', {
    model: 'one/chat',
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', audio: { id: 'audio_1' } },
      { role: 'user', content: 'Again' },
    ],
  });
  expect(at(await refused.json(), 'error', 'param')).toBe('messages[1].audio.id');
});

test.each([true, false])(
  'a refusal of Claude is no text of the model for clients of Google (streamed: %p)',
  async (streams) => {
    const explanation = 'This is about weapons.';
    const details = { type: 'refusal', category: 'cbrn', explanation };
    const body = { ...messagesBody([], 'refusal'), stop_details: details };
    const start = { type: 'message_start', message: { ...body, stop_reason: null, stop_details: null } };
    const delta = { stop_reason: 'refusal', stop_sequence: null, stop_details: details };
    const frames = [
      start,
      { type: 'message_delta', delta, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ];
    const events = frames.map((event) => `event: ${event.type}\n${frame(event)}`);
    scene.upstream('up').script(streams ? stream(events) : whole(body));
    const path = `/models/one/messages:${streams ? 'streamGenerateContent?alt=sse' : 'generateContent'}`;
    const response = await scene.gateway.post(path, {
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    });
    const text = await response.text();
    const chunks = streams
      ? framesOf(text).map(({ data }) => JSON.parse(data) as object)
      : [JSON.parse(text) as object];
    const said = chunks.flatMap((chunk) => list(chunk, 'candidates', 0, 'content', 'parts'));
    expect(said.map((part) => at(part, 'text') ?? '').join('')).toBe('');
    expect(at(chunks.at(-1), 'candidates', 0, 'finishMessage')).toBe(explanation);
    expect(at(chunks.at(-1), 'candidates', 0, 'finishReason')).toBe('SAFETY');
  },
);

test('counts that contradict each other are clamped, and reported in header and record', async () => {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 2,
    total_tokens: 12,
    prompt_tokens_details: { cached_tokens: 25 },
  };
  scene.upstream('up').script(whole({ ...chatBody('Hello'), usage }));
  const response = await scene.gateway.post('/chat/completions', {
    model: 'one/chat',
    messages: [{ role: 'user', content: 'Hi' }],
  });
  expect(response.headers.get('x-dragoman-report')).toBe('usage.cache_read:clamped');
  expect(at(await response.json(), 'usage', 'prompt_tokens_details', 'cached_tokens')).toBe(10);
  const record = await recordOf(scene.gateway, response);
  expect(JSON.stringify(record)).toContain('usage.cache_read');
});

test('tokens are not counted for a model that is unknown to the upstream', async () => {
  const unknown = { type: 'error', error: { type: 'not_found_error', message: 'model: m' } };
  scene.upstream('up').script(whole(unknown, 404));
  const body = { model: 'one/messages', messages: [{ role: 'user', content: 'Hi' }] };
  const refused = await scene.gateway.post('/messages/count_tokens', body);
  expect([refused.status, at(await refused.json(), 'error', 'type')]).toEqual([404, 'not_found_error']);
  // One that knows no such operation leaves the counting to the gateway.
  scene.upstream('up').script(whole({ detail: 'Not Found' }, 404));
  const counted = await scene.gateway.post('/messages/count_tokens', body);
  expect([counted.status, counted.headers.get('x-dragoman-estimated')]).toEqual([200, 'true']);
});

test("files are Anthropic's for its clients, and so are errors about them", async () => {
  const { gateway } = scene;
  const client = new Anthropic({ apiKey: gateway.key, baseURL: gateway.origin, maxRetries: 0 });
  const file = await toFile(Buffer.from('Hello'), 'note.txt', { type: 'text/plain' });
  const kept = await client.beta.files.upload({ file });
  expect(kept).toMatchObject({ type: 'file', filename: 'note.txt', mime_type: 'text/plain', size_bytes: 5 });
  const found = await client.beta.files.retrieveMetadata(kept.id);
  expect(found.created_at).toBe(kept.created_at);
  const listed = await client.beta.files.list({ limit: 1 });
  expect(listed.data.map(({ id }) => id)).toEqual([kept.id]);
  expect(await client.beta.files.delete(kept.id)).toMatchObject({ id: kept.id, type: 'file_deleted' });
  const gone: unknown = await client.beta.files.retrieveMetadata(kept.id).catch((error: unknown) => error);
  expect(gone).toBeInstanceOf(Anthropic.NotFoundError);
  expect(gone).toMatchObject({ error: { type: 'error', error: { type: 'not_found_error' } } });
});
