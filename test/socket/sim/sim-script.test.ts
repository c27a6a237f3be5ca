// Prompts that spell out the calls of a simulated model: one after the other, over each of its protocols.
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { serveSim, user } from '../../support/sim-server.ts';

const server = serveSim();
const openai = new OpenAI({ apiKey: 'sk-test', baseURL: `${server.origin}/openai/v1`, maxRetries: 0 });
const anthropic = new Anthropic({ apiKey: 'sk-test', baseURL: `${server.origin}/anthropic`, maxRetries: 0 });
afterAll(() => server.stop());

const PROMPT = [
  'Use "other" words and get_time, and then:',
  'call read {"path": "a.txt", "deep": {"x": [1, "}"]}}',
  'call missing {"path": "no such tool"}',
  'call write {broken}',
  '  call write {"path": "b.txt"}',
].join('\n');
const NAMES = ['get_time', 'read', 'write'];
const STEPS = [
  ['read', { path: 'a.txt', deep: { x: [1, '}'] } }],
  ['write', { path: 'b.txt' }],
];
const schema = { type: 'object' as const };

test('a script runs over Chat Completions', async () => {
  const messages: OpenAI.ChatCompletionMessageParam[] = [user(PROMPT)];
  const tools = NAMES.map((name) => ({ type: 'function' as const, function: { name, parameters: schema } }));
  const made: unknown[] = [];
  for (;;) {
    const message = (await openai.chat.completions.create({ model: 'chat', messages, tools })).choices[0]
      ?.message;
    if (!message?.tool_calls) {
      expect(message?.content).toBe('write returned: done 2');
      break;
    }
    messages.push(message);
    for (const call of message.tool_calls) {
      if (call.type !== 'function') throw new Error(call.type);
      made.push([call.function.name, JSON.parse(call.function.arguments) as unknown]);
      messages.push({ role: 'tool', tool_call_id: call.id, content: `done ${made.length}` });
    }
  }
  expect(made).toEqual(STEPS);
  // A new question begins from the start.
  messages.push({ role: 'assistant', content: 'Done.' }, user('call read {"path": "c.txt"}'));
  const next = await openai.chat.completions.create({ model: 'chat', messages, tools });
  expect(next.choices[0]?.message.tool_calls?.[0]).toMatchObject({
    function: { arguments: '{"path":"c.txt"}' },
  });
});

test('a script runs over Responses, custom tools included', async () => {
  const input: OpenAI.Responses.ResponseInput = [user(`${PROMPT}\ncall patch "*** Begin\\n*** End"`)];
  const tools: OpenAI.Responses.Tool[] = [
    ...NAMES.map((name) => ({ type: 'function' as const, name, parameters: schema, strict: false })),
    { type: 'custom', name: 'patch' },
  ];
  const made: unknown[] = [];
  for (;;) {
    const { output, output_text } = await openai.responses.create({ model: 'responses', input, tools });
    const before = made.length;
    for (const item of output) {
      input.push(item as OpenAI.Responses.ResponseInputItem);
      if (item.type === 'function_call') {
        made.push([item.name, JSON.parse(item.arguments) as unknown]);
        input.push({ type: 'function_call_output', call_id: item.call_id, output: 'done' });
      } else if (item.type === 'custom_tool_call') {
        made.push([item.name, item.input]);
        input.push({ type: 'custom_tool_call_output', call_id: item.call_id, output: 'patched' });
      }
    }
    if (made.length > before) continue;
    expect(output_text).toBe('patch returned: patched');
    break;
  }
  expect(made).toEqual([...STEPS, ['patch', '*** Begin\n*** End']]);
});

test('a script runs over Messages', async () => {
  const messages: Anthropic.MessageParam[] = [user(PROMPT)];
  const tools = NAMES.map((name) => ({ name, input_schema: schema }));
  const made: unknown[] = [];
  for (;;) {
    const { content } = await anthropic.messages.create({
      model: 'messages',
      max_tokens: 500,
      messages,
      tools,
    });
    const calls = content.filter((block) => block.type === 'tool_use');
    if (calls.length === 0) {
      expect(content).toMatchObject([{ type: 'text', text: 'write returned: done 2' }]);
      break;
    }
    messages.push({ role: 'assistant', content });
    for (const call of calls) {
      made.push([call.name, call.input]);
      messages.push({
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: call.id, content: `done ${made.length}` }],
      });
    }
  }
  expect(made).toEqual(STEPS);
});
