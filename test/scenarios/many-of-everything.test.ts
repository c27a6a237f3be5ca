// Bodies that are legal and full: what the gateway does with them grows with their size, not with its square, and
// what it records of them does not grow at all.
import { afterAll, expect, test } from 'bun:test';
import { chatBody, messagesBody, responsesBody, whole } from '../support/upstreams/answers.ts';
import { recordOf, startScene } from '../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../support/upstreams/json-path.ts';

const MANY = 40_000;
const endpoint = {
  provider: 'up',
  model: 'm',
  protocol: 'openai-chat',
  quirks: { adjacent_roles: 'merge', merge_system: true },
};
const scene = await startScene(['up'], { config: { models: [{ id: 'up/merging', endpoints: [endpoint] }] } });
afterAll(() => scene[Symbol.asyncDispose]());

const ANSWERS = {
  chat: () => whole(chatBody('Hello')),
  responses: () =>
    whole(
      responsesBody([
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
        },
      ]),
    ),
  messages: () => whole(messagesBody([{ type: 'text', text: 'Hello' }], 'end_turn')),
};

test.each(['chat', 'responses', 'messages'] as const)(
  'many calls with one id reach %s quickly',
  async (protocol) => {
    scene.upstream('up').script(ANSWERS[protocol]());
    const calls = Array.from({ length: MANY }, () => ({
      id: 'c',
      type: 'function',
      function: { name: 'f', arguments: '{}' },
    }));
    const answer = await scene.gateway.post('/chat/completions', {
      model: `one/${protocol}`,
      messages: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', tool_calls: calls },
        { role: 'tool', tool_call_id: 'c', content: 'done' },
      ],
    });
    expect(answer.status).toBe(200);
  },
);

test.each(['system', 'user'])(
  'many messages of the role %s are merged for a server that accepts one',
  async (role) => {
    scene.upstream('up').script(ANSWERS.chat());
    const content = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ];
    const messages = Array.from({ length: MANY }, () => ({ role, content }));
    const answer = await scene.gateway.post('/chat/completions', {
      model: 'up/merging',
      messages: [...messages, { role: 'user', content: 'Hello' }],
    });
    expect(answer.status).toBe(200);
    const sent = list(scene.upstream('up').requests[0]?.json as Json, 'messages');
    expect(sent).toHaveLength(role === 'user' ? 1 : 2);
    expect(list(sent[0] as Json, 'content')).toHaveLength(role === 'user' ? 2 * MANY + 1 : 2 * MANY);
  },
);

test('many unknown members with long names fill no record', async () => {
  scene.upstream('up').script(ANSWERS.messages());
  const members = Object.fromEntries(Array.from({ length: 4_900 }, (_, i) => [`${'x'.repeat(300)}${i}`, 1]));
  const answer = await scene.gateway.post('/chat/completions', {
    model: 'one/messages',
    messages: [{ role: 'user', content: 'Hello' }],
    ...Object.fromEntries(Array.from({ length: 4_900 }, (_, i) => [`unknown_${i}`, 1])),
    ...members,
  });
  expect(answer.status).toBe(200);
  const report = list(await recordOf(scene.gateway, answer), 'report');
  expect(report.length).toBeLessThanOrEqual(500);
  expect(report.every((entry) => String(at(entry, 'path')).length <= 201)).toBe(true);
});
