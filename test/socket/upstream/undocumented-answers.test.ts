// Members, events and parts of responses that no documentation names: clients of the same protocol receive them in the
// translate lane, and clients of other protocols learn from the report that their content is missing.
import { afterAll, expect, test } from 'bun:test';
import {
  chatBody,
  chatChunk,
  frame,
  messagesBody,
  messagesStream,
  responsesBody,
  responsesStream,
  stream,
  whole,
} from '../../support/upstreams/answers.ts';
import { startScene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, type Json } from '../../support/upstreams/json-path.ts';

const scene = await startScene(['up']);
afterAll(() => scene[Symbol.asyncDispose]());

const BODIES = {
  '/chat/completions': { messages: [{ role: 'user', content: 'Hi' }] },
  '/messages': { max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] },
  '/responses': { input: 'Hi' },
};
type Path = keyof typeof BODIES;

async function ask(path: Path, model: string, answer: object): Promise<[Json, string | null]> {
  scene.upstream('up').script(whole(answer));
  const response = await scene.gateway.post(path, { model, ...BODIES[path] });
  expect(response.status).toBe(200);
  expect(response.headers.get('x-dragoman-lane')).toBe('translate');
  return [(await response.json()) as Json, response.headers.get('x-dragoman-report')];
}

/** Data of the events of a streamed response. */
async function askStreamed(path: Path, model: string, answer: string): Promise<readonly Json[]> {
  scene.upstream('up').script(stream(answer));
  const response = await scene.gateway.post(path, { model, ...BODIES[path], stream: true });
  const text = await response.text();
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data ?? '') as Json);
}

const FILTER = { hate: { filtered: false } };
const RESULTS = [{ prompt_index: 0 }];
const TOOLS_RUN = [{ name: 'browser' }];

test('a chat client receives undocumented members of a completion, its choice and its message', async () => {
  const { choices, ...body } = chatBody({ content: 'Hello', executed_tools: TOOLS_RUN }) as {
    choices: readonly object[];
  };
  const answer = {
    ...body,
    prompt_filter_results: RESULTS,
    kv_transfer_params: null,
    choices: [{ ...choices[0], content_filter_results: FILTER }],
  };
  const [json, report] = await ask('/chat/completions', 'one/chat', answer);
  expect(json).toMatchObject({
    prompt_filter_results: RESULTS,
    choices: [{ content_filter_results: FILTER, message: { content: 'Hello', executed_tools: TOOLS_RUN } }],
  });
  expect(json).not.toHaveProperty('kv_transfer_params');
  expect(report).toBeNull();
});

test('a streamed chat response ends with undocumented members of its chunks', async () => {
  const chunk = (members: object, choice: object): string => {
    const { choices, ...rest } = JSON.parse(chatChunk({}).replace('data: ', '')) as { choices: object[] };
    return frame({ ...rest, ...members, choices: [{ ...choices[0], ...choice }] });
  };
  const chunks = await askStreamed(
    '/chat/completions',
    'one/chat',
    chunk({ time_info: { queue: 1 } }, { delta: { role: 'assistant', content: 'Hello' } }) +
      chunk({ time_info: { queue: 2 } }, { content_filter_results: FILTER, finish_reason: 'stop' }) +
      'data: [DONE]\n\n',
  );
  expect(chunks.at(-1)).toMatchObject({
    time_info: { queue: 2 },
    choices: [{ delta: {}, finish_reason: 'stop', content_filter_results: FILTER }],
  });
});

const CONTAINER = { id: 'container_1', expires_at: '2026-12-01T00:00:00Z' };
const EDITS = { applied_edits: [{ type: 'clear_thinking_20251015' }] };

test('a Messages client receives the container, context edits and a new stop reason', async () => {
  const answer = {
    ...messagesBody([{ type: 'text', text: 'Hello' }], 'out_of_patience'),
    container: CONTAINER,
  };
  const [json] = await ask('/messages', 'one/messages', { ...answer, context_management: EDITS });
  expect(json).toMatchObject({
    container: CONTAINER,
    context_management: EDITS,
    stop_reason: 'out_of_patience',
    content: [{ type: 'text', text: 'Hello' }],
  });
});

test('so does a streamed Messages response, and unknown events pass', async () => {
  const telegram = { type: 'telegram', words: 3 };
  const text = messagesStream([{ type: 'text', text: 'Hello' }], 'out_of_patience')
    .replace('"delta":{"stop_reason"', `"context_management":${JSON.stringify(EDITS)},"delta":{"stop_reason"`)
    .replace('"stop_sequence":null},"usage":{"output', `"container":${JSON.stringify(CONTAINER)},$&`)
    .replace('event: message_delta', `${frame(telegram)}event: message_delta`);
  const events = await askStreamed('/messages', 'one/messages', text);
  expect(events).toContainEqual(telegram as unknown as Json);
  expect(events.find((event) => at(event, 'type') === 'message_delta')).toMatchObject({
    delta: { stop_reason: 'out_of_patience', container: CONTAINER },
    context_management: EDITS,
  });
});

/** Events of a stream about its first block, in order: undocumented ones before, among and after its content. */
const UNNAMED: readonly object[] = [
  {
    type: 'content_block_delta',
    index: 1,
    delta: { type: 'thinking_delta', thinking: '', estimated_tokens: 50 },
  },
  { type: 'content_block_delta', index: 1, delta: { type: 'glow_delta', glow: 7 } },
  { type: 'content_block_delta', index: 1, delta: { type: 'thinking_delta', thinking: 'Well' } },
  { type: 'content_block_note', index: 1, note: 'n', more: { of: 'it' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'signature_delta', signature: 'c2ln' } },
];

test('undocumented deltas and events about a block reach a Messages client at the number that its block has there', async () => {
  const start = (index: number, content_block: object): string =>
    frame({ type: 'content_block_start', index, content_block });
  const stop = (index: number): string => frame({ type: 'content_block_stop', index });
  const [head, tail] = messagesStream([], 'end_turn').split('event: message_delta');
  const empty = start(0, { type: 'text', text: '' }) + stop(0);
  const thinking = start(1, { type: 'thinking', thinking: '', signature: '' }) + UNNAMED.map(frame).join('');
  const text = `${head}${empty}${thinking}${stop(1)}event: message_delta${tail}`;
  const events = await askStreamed('/messages', 'one/messages', text);
  // The empty block is not shown, so the others move up.
  expect(events.filter((event) => at(event, 'index') !== undefined)).toMatchObject([
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking' } },
    ...UNNAMED.map((event) => ({ ...event, index: 0 })),
    { type: 'content_block_stop', index: 0 },
  ]);
  const chat = await askStreamed('/chat/completions', 'one/messages', text);
  expect(chat.map((chunk) => at(chunk, 'choices', 0, 'delta', 'reasoning') ?? '').join('')).toBe('Well');
});

test('an answer of many deltas with a member that nobody knows is no answer of too many items', async () => {
  const [head = '', tail = ''] = messagesStream([{ type: 'text', text: 'Hello' }], 'end_turn').split(
    'event: content_block_stop',
  );
  const known = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: '.', token: 7 } };
  const text = `${head}${frame(known).repeat(50_001)}event: content_block_stop${tail}`;
  const events = await askStreamed('/messages', 'one/messages', text);
  expect(events.filter((event) => at(event, 'delta', 'token') === 7)).toHaveLength(50_001);
  expect(at(events.at(-1) ?? null, 'type')).toBe('message_stop');
});

test('undocumented members of the last delta stay in it', async () => {
  const text = messagesStream([{ type: 'text', text: 'Hello' }], 'end_turn').replace(
    '"delta":{"stop_reason"',
    '"beside":1,"delta":{"within":2,"stop_reason"',
  );
  const end = (await askStreamed('/messages', 'one/messages', text)).find(
    (event) => at(event, 'type') === 'message_delta',
  );
  expect(end).toMatchObject({ beside: 1, delta: { within: 2, stop_reason: 'end_turn' } });
  expect(end).not.toHaveProperty('within');
});

test('an unknown event whose name would begin another field of the stream does not pass', async () => {
  const forged = { type: 'telegram\ndata: {}', words: 3 };
  const message = messagesStream([{ type: 'text', text: 'Hello' }], 'end_turn');
  const text = message.replace('event: message_delta', `data: ${JSON.stringify(forged)}\n\n$&`);
  const names = (await askStreamed('/messages', 'one/messages', text)).map((event) => at(event, 'type'));
  expect(names).toContain('message_stop');
  expect(names).not.toContain(forged.type);
  const body = responsesStream([MESSAGE]).replace(
    'event: response.in_progress',
    `data: ${JSON.stringify(forged)}\n\n$&`,
  );
  const events = (await askStreamed('/responses', 'one/responses', body)).map((event) => at(event, 'type'));
  expect(events).toContain('response.completed');
  expect(events).not.toContain(forged.type);
});

const HOLOGRAM = { type: 'output_hologram', data: 'x' };
const MESSAGE = {
  id: 'msg_0123456789abcdef',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [HOLOGRAM, { type: 'output_text', text: 'Hello', annotations: [], logprobs: [] }],
};
const MODERATION = { input: { flagged: false } };

test('a Responses client receives unknown parts of a message, and members that its request did not set', async () => {
  const own = { moderation: MODERATION, conversation: { id: 'conv_of_the_upstream' } };
  const [json] = await ask('/responses', 'one/responses', { ...responsesBody([MESSAGE]), ...own });
  expect(json).toMatchObject({
    moderation: MODERATION,
    output: [{ content: [HOLOGRAM, { text: 'Hello' }] }],
  });
  // State of the upstream is none of the gateway's.
  expect(json).not.toHaveProperty('conversation');
});

test('so does a streamed Responses response, in whole items only', async () => {
  const text = responsesStream([MESSAGE]).replaceAll(
    '"status":"completed","completed_at"',
    `"moderation":${JSON.stringify(MODERATION)},$&`,
  );
  const events = await askStreamed('/responses', 'one/responses', text);
  const end = events.at(-1) ?? null;
  expect(at(end, 'response', 'moderation')).toEqual(MODERATION);
  expect(at(end, 'response', 'output', 0, 'content', 0)).toEqual(HOLOGRAM);
  expect(events.map((event) => at(event, 'type'))).not.toContain('output_hologram');
});

test.each(['/messages', '/responses'] as const)(
  'a client of %s learns which members of a chat message are missing',
  async (path) => {
    const [, report] = await ask(path, 'one/chat', chatBody({ content: 'Hello', executed_tools: TOOLS_RUN }));
    expect(report).toContain('output[0].executed_tools:dropped');
  },
);

test.each(['/messages', '/chat/completions'] as const)(
  'a client of %s learns which parts of a Responses message are missing',
  async (path) => {
    const [, report] = await ask(path, 'one/responses', responsesBody([MESSAGE]));
    expect(report).toContain('output[0].content[0]:dropped');
  },
);
