// Requests made to keep the simulated models busy for ever. They run inside the gateway's own process: each must be
// answered at once.
import { afterAll, expect, test } from 'bun:test';
import { CHAT, MESSAGES, serveSim, user } from '../../support/sim-server.ts';

const server = serveSim();
afterAll(() => server.stop());

async function argumentsFor(schema: object, prompt: string): Promise<string> {
  const tools = [{ type: 'function', function: { name: 'f', parameters: schema } }];
  const answer = await server.post(CHAT, { model: 'chat', messages: [user(prompt)], tools });
  expect(answer.status).toBe(200);
  const body = (await answer.json()) as {
    choices: [{ message: { tool_calls: [{ function: { arguments: string } }] } }];
  };
  return body.choices[0].message.tool_calls[0].function.arguments;
}

test('a long sequence of digits is no sum', async () => {
  const answer = await server.post(CHAT, { model: 'chat', messages: [user('1'.repeat(2_000_000))] });
  expect(answer.status).toBe(200);
});

test.each(['^(a+)+$', '^(a|a)*$', `^${'a?'.repeat(40)}${'a'.repeat(40)}$`, '^((a{1000}){1000}){1000}$'])(
  'the pattern %s is not tried on a text that makes it backtrack',
  async (pattern) => {
    const schema = { type: 'object', properties: { x: { type: 'string', pattern } } };
    expect((await argumentsFor(schema, `"${'a'.repeat(60)}!"`)).length).toBeLessThan(20_000);
  },
);

test('a schema that contains itself several times ends', async () => {
  const properties = { a: { $ref: '#' }, b: { $ref: '#' }, c: { $ref: '#' } };
  const text = await argumentsFor({ type: 'object', properties, required: ['a', 'b', 'c'] }, 'Hello');
  expect(text.length).toBeLessThan(1_000_000);
});

test('tens of thousands of calls and results are paired', async () => {
  const ids = Array.from({ length: 60_000 }, (_, i) => `call_${i}`);
  const answer = await server.post(MESSAGES, {
    model: 'messages',
    max_tokens: 100,
    tools: [{ name: 'f', input_schema: { type: 'object' } }],
    messages: [
      user('Hello'),
      { role: 'assistant', content: ids.map((id) => ({ type: 'tool_use', id, name: 'f', input: {} })) },
      { role: 'user', content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'x' })) },
    ],
  });
  expect(answer.status).toBe(200);
});
