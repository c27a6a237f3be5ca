// Messages between a tool call and its result: Chat Completions refuses them there, so they follow the results, unless
// the client itself speaks it.
import { afterAll, expect, test } from 'bun:test';
import { chatBody, whole } from '../../support/upstreams/answers.ts';
import { startScene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list } from '../../support/upstreams/json-path.ts';

const scene = await startScene(['up']);
afterAll(() => scene[Symbol.asyncDispose]());

const HELLO = { role: 'user', content: 'Hello' };
const NOTE = { role: 'user', content: 'Quick!' };
const CALLS = ['call_1', 'call_2'] as const;
const result = (id: string): object => ({ type: 'tool_result', tool_use_id: id, content: 'Done' });
const output = (id: string): object => ({ type: 'function_call_output', call_id: id, output: 'Done' });
const calling = {
  role: 'assistant',
  content: CALLS.map((id) => ({ type: 'tool_use', id, name: 'f', input: {} })),
};

async function rolesSent(path: string, body: object): Promise<[roles: unknown[], report: string | null]> {
  scene.upstream('up').script(whole(chatBody('Fine')));
  const response = await scene.gateway.post(path, { model: 'one/chat', ...body });
  expect(response.status).toBe(200);
  const messages = list(scene.upstream('up').requests.at(-1)?.json, 'messages');
  return [messages.map((each) => at(each, 'role')), response.headers.get('x-dragoman-report')];
}

test('the text of a Messages client before a result follows it', async () => {
  const said = { role: 'user', content: [{ type: 'text', text: 'Quick!' }, ...CALLS.map(result)] };
  const [roles, report] = await rolesSent('/messages', { max_tokens: 100, messages: [HELLO, calling, said] });
  expect(roles).toEqual(['user', 'assistant', 'tool', 'tool', 'user']);
  expect(report).toBe('messages[2].content[1]:approximated, messages[2].content[2]:approximated');
});

test('the message of a Responses client between results follows them', async () => {
  const calls = CALLS.map((call_id) => ({ type: 'function_call', call_id, name: 'f', arguments: '{}' }));
  const input = [HELLO, ...calls, output('call_1'), NOTE, output('call_2')];
  const [roles, report] = await rolesSent('/responses', { store: false, input });
  expect(roles).toEqual(['user', 'assistant', 'tool', 'tool', 'user']);
  expect(report).toBe('input[5]:approximated');
});

test('a message after a call without a result stays in its position', async () => {
  const messages = [HELLO, calling, NOTE, { role: 'assistant', content: 'Sorry' }, HELLO];
  const [roles, report] = await rolesSent('/messages', { max_tokens: 100, messages });
  expect(roles).toEqual(['user', 'assistant', 'user', 'assistant', 'user']);
  expect(report).toBeNull();
});

test('messages of a chat client stay in their order', async () => {
  const tool_calls = [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }];
  const done = { role: 'tool', tool_call_id: 'call_1', content: 'Done' };
  const messages = [HELLO, { role: 'assistant', content: null, tool_calls }, NOTE, done];
  const [roles, report] = await rolesSent('/chat/completions', { messages });
  expect(roles).toEqual(['user', 'assistant', 'user', 'tool']);
  expect(report).toBeNull();
});
