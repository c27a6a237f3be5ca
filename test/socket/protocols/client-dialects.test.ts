// Dialects of clients and servers that are read, not judged, where their meaning is plain: words, missing types and ids
// of Mistral, Groq, Snowflake and others.
import { afterAll, describe, expect, test } from 'bun:test';
import { chatBody, messagesStream, stream, whole } from '../../support/upstreams/answers.ts';
import { startGateway } from '../../support/harness.ts';
import { startScene, type Scene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import { startUpstream } from '../../support/upstreams/scripted-upstream.ts';

const scene = await startScene(['up']);
const faithful = await startScene(['up'], { faithful: true });
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await faithful[Symbol.asyncDispose]();
});

const TOOL = { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } };

/** Body that the upstream got for a Chat request. */
async function sent(body: object, on: Scene = scene, model = 'one/chat'): Promise<Json> {
  on.upstream('up').script(whole(chatBody('Hi')));
  const response = await on.gateway.post('/chat/completions', {
    model,
    messages: [{ role: 'user', content: 'Hi' }],
    ...body,
  });
  expect([response.status, response.status === 200 ? '' : await response.text()]).toEqual([200, '']);
  return on.upstream('up').requests.at(-1)?.json as Json;
}

describe('a choice of tools', () => {
  test('uses `any` for a required call', async () => {
    expect(at(await sent({ tools: [TOOL], tool_choice: 'any' }), 'tool_choice')).toBe('required');
    // Also where its own bytes would go on: their owner does not know the word.
    expect(at(await sent({ tools: [TOOL], tool_choice: 'any' }, faithful), 'tool_choice')).toBe('required');
  });

  test('names a function without a type, in every protocol', async () => {
    const named = { type: 'function', function: { name: 'f' } };
    const choice = { function: { name: 'f' } };
    expect(at(await sent({ tools: [TOOL], tool_choice: choice }), 'tool_choice')).toEqual(named);
    const up = scene.upstream('up');
    const flat = { type: 'function', name: 'f', parameters: { type: 'object', properties: {} } };
    up.script(whole(chatBody('Hi')));
    const responses = await scene.gateway.post('/responses', {
      model: 'one/chat',
      input: 'Hi',
      tools: [flat],
      tool_choice: { name: 'f' },
    });
    expect([responses.status, at(up.requests.at(-1)?.json as Json, 'tool_choice')]).toEqual([200, named]);
    up.script(whole(chatBody('Hi')));
    const messages = await scene.gateway.post('/messages', {
      model: 'one/chat',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [{ name: 'f', input_schema: { type: 'object', properties: {} } }],
      tool_choice: { name: 'f' },
    });
    expect([messages.status, at(up.requests.at(-1)?.json as Json, 'tool_choice')]).toEqual([200, named]);
  });
});

test('the effort `default` asks for reasoning, and never reaches an upstream as a word', async () => {
  for (const on of [scene, faithful]) {
    const body = await sent({ reasoning_effort: 'default' }, on);
    expect(at(body, 'reasoning_effort')).not.toBe('default');
  }
});

describe('calls of a history', () => {
  const call = (name: string, id?: string): object => ({
    ...(id === undefined ? {} : { id }),
    type: 'function',
    function: { name, arguments: '{}' },
  });

  test('need no ids: a result belongs to the first open call of its name, otherwise to the first of all', async () => {
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: null, tool_calls: [call('f'), call('g'), call('f', 'call_9')] },
      { role: 'tool', name: 'g', content: 'of g' },
      { role: 'tool', tool_call_id: 'call_9', content: 'of the second f' },
      { role: 'tool', content: 'of the first f' },
    ];
    for (const on of [scene, faithful]) {
      const said = list(await sent({ messages }, on), 'messages');
      const ids = list(said[1], 'tool_calls').map((each) => String(at(each, 'id')));
      expect(ids.every((id) => id !== '' && id !== 'undefined')).toBe(true);
      expect(new Set(ids).size).toBe(3);
      expect(said.slice(2).map((each) => ids.indexOf(String(at(each, 'tool_call_id'))))).toEqual([1, 2, 0]);
    }
  });

  test('a result without an id and without an open call is refused by name', async () => {
    const response = await scene.gateway.post('/chat/completions', {
      model: 'one/chat',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'tool', content: 'of what?' },
      ],
    });
    expect(response.status).toBe(400);
    expect(at(await response.json(), 'error', 'param')).toBe('messages[1].tool_call_id');
  });
});

test('thinking among the parts of an answer is reasoning: other servers never get the part', async () => {
  const messages = [
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
        { type: 'text', text: 'Hello' },
      ],
    },
    { role: 'user', content: 'Go on' },
  ];
  for (const on of [scene, faithful]) {
    const body = await sent({ messages }, on);
    expect(JSON.stringify(body)).not.toContain('thinking');
    expect(JSON.stringify(list(body, 'messages')[1])).toContain('Hello');
  }
});

test('such thinking is returned to Mistral unchanged, before the text', async () => {
  const upstream = await startUpstream();
  const gateway = await startGateway({
    providers: { mistral: { api_key: 'sk-test', base_url: `${upstream.origin}/v1` } },
  });
  upstream.script(whole(chatBody('Hi')));
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] };
  const text = { type: 'text', text: 'Hello' };
  const response = await gateway.post('/chat/completions', {
    model: 'mistral/magistral-small-2509',
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [thinking, text] },
      { role: 'user', content: 'Go on' },
    ],
  });
  expect(response.status).toBe(200);
  expect(at(list(upstream.requests.at(-1)?.json as Json, 'messages')[1], 'content')).toEqual([
    thinking,
    text,
  ]);
  await gateway.close();
  await upstream.stop();
});

test("calls with an empty `custom` beside their function are functions (Snowflake's)", async () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' }, custom: {} };
  scene.upstream('up').script(whole(chatBody({ content: null, tool_calls: [call] }, 'tool_calls')));
  const response = await scene.gateway.post('/chat/completions', {
    model: 'one/chat',
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [TOOL],
  });
  const [choice] = list(await response.json(), 'choices');
  expect(at(choice, 'message', 'tool_calls')).toMatchObject([
    { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
  ]);
});

test('a repeated identical `message_start` is one', async () => {
  const text = messagesStream([{ type: 'text', text: 'Hi' }], 'end_turn');
  const start = text.slice(0, text.indexOf('\n\n') + 2);
  expect(start).toContain('message_start');
  scene.upstream('up').script(stream(start + text));
  const response = await scene.gateway.post('/messages', {
    model: 'one/messages',
    max_tokens: 100,
    stream: true,
    messages: [{ role: 'user', content: 'Hi' }],
  });
  const answer = await response.text();
  expect([...answer.matchAll(/"text_delta","text":"(\w)"/g)].map(([, piece]) => piece).join('')).toBe('Hi');
  expect(answer).toContain('message_stop');
  expect(answer).not.toContain('event: error');
  expect(answer.split('event: message_start').length).toBe(2);
});

test('`tool_use_failed` of Groq is an error of the client: a 400 with the text of the model', async () => {
  const failed_generation = '<function=f>{"a":';
  const error = {
    message: 'Failed to call a function.',
    type: 'invalid_request_error',
    code: 'tool_use_failed',
    failed_generation,
  };
  scene.upstream('up').script(whole({ error }, 400));
  const response = await scene.gateway.post('/chat/completions', {
    model: 'one/chat',
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [TOOL],
  });
  expect(response.status).toBe(400);
  expect(at(await response.json(), 'error')).toMatchObject({ code: 'tool_use_failed', failed_generation });
  expect(scene.upstream('up').requests.length).toBe(1);
});
