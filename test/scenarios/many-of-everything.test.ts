// Bodies that are legal and full: what the gateway does with them grows with their size, not with its square, and
// what it records of them does not grow at all.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { chatBody, messagesBody, responsesBody, whole } from '../upstreams/answers.ts';
import { recordOf, startScene, type Scene } from '../upstreams/gateway-with-upstreams.ts';
import { at, list } from '../upstreams/json-path.ts';

const MANY = 40_000;
let scene: Scene;
beforeAll(async () => {
  scene = await startScene(['up']);
});
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
  'many calls, all with one id, to %s',
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

test('many unknown members with long names fill no record', async () => {
  scene.upstream('up').script(ANSWERS.messages());
  const members = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`${'x'.repeat(300)}${i}`, 1]));
  const answer = await scene.gateway.post('/chat/completions', {
    model: 'one/messages',
    messages: [{ role: 'user', content: 'Hello' }],
    ...Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`unknown_${i}`, 1])),
    ...members,
  });
  expect(answer.status).toBe(200);
  const report = list(await recordOf(scene.gateway, answer), 'report');
  expect(report.length).toBeLessThanOrEqual(500);
  expect(report.every((entry) => String(at(entry, 'path')).length <= 201)).toBe(true);
});
