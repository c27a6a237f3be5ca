// OpenRouter's SDK, which checks every answer against its own schemas, over Chat Completions and Responses.
import { OpenRouter } from '@openrouter/sdk';
import { OpenRouterError } from '@openrouter/sdk/models/errors/openroutererror.js';
import { EventStream } from '@openrouter/sdk/lib/event-streams.js';
import type {
  ChatAssistantMessage,
  ChatMessages,
  ChatToolCall,
  InputsUnion,
  ReasoningDetailUnion,
} from '@openrouter/sdk/models';
import { afterAll, describe, expect, test } from 'bun:test';
import { DIALECTS, startEveryUpstream } from '../../support/upstreams/every-upstream.ts';
import { at } from '../../support/upstreams/json-path.ts';

const gateway = await startEveryUpstream();
const client = new OpenRouter({
  apiKey: gateway.key,
  serverURL: gateway.baseURL,
  retryConfig: { strategy: 'none' },
});
afterAll(() => gateway.close());

const tools = [
  {
    type: 'function' as const,
    function: {
      name: 'get_weather',
      description: 'Weather of a city',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
];

const TASK = 'call get_weather {"city": "Lima"}\ncall get_weather {"city": "Oslo"}';

test.each(DIALECTS)('%s calls tools over two turns', async (model) => {
  const messages: ChatMessages[] = [];
  const ask = async (content: string): Promise<unknown> => {
    messages.push({ role: 'user', content });
    for (;;) {
      const answer = await client.chat.send({
        chatRequest: { model, messages, tools, reasoning: { effort: 'low' } },
      });
      if (!('choices' in answer)) throw new Error('not an answer');
      expect(answer.usage?.totalTokens).toBeGreaterThan(0);
      const message = answer.choices[0]?.message;
      if (!message) throw new Error('no message');
      messages.push(message);
      if (!message.toolCalls?.length) return message.content;
      for (const call of message.toolCalls)
        messages.push({ role: 'tool', toolCallId: call.id, content: `fog: ${call.function.arguments}` });
    }
  };
  expect(await ask(TASK)).toBe('get_weather returned: fog: {"city":"Oslo"}');
  expect(await ask('call get_weather {"city": "Rome"}')).toBe('get_weather returned: fog: {"city":"Rome"}');
});

test.each(DIALECTS)('%s streams reasoning, calls and text over two turns', async (model) => {
  const messages: ChatMessages[] = [];
  let thoughts = 0;
  const ask = async (content: string): Promise<string> => {
    messages.push({ role: 'user', content });
    for (;;) {
      const said = await streamed(model, messages);
      if (said.reasoningDetails?.length) thoughts++;
      messages.push(said);
      if (!said.toolCalls?.length) return String(said.content);
      for (const call of said.toolCalls)
        messages.push({ role: 'tool', toolCallId: call.id, content: `fog: ${call.function.arguments}` });
    }
  };
  expect(await ask(TASK)).toBe('get_weather returned: fog: {"city":"Oslo"}');
  expect(await ask('call get_weather {"city": "Rome"}')).toBe('get_weather returned: fog: {"city":"Rome"}');
  // OpenAI's Chat Completions count reasoning and never show it.
  expect(thoughts).toBe(model === 'sim/chat' ? 0 : 5);
});

/** One streamed answer, put together as a message to send back. */
async function streamed(model: string, messages: ChatMessages[]): Promise<ChatAssistantMessage> {
  const stream = await client.chat.send({
    chatRequest: { model, messages, tools, reasoning: { effort: 'low' }, stream: true },
  });
  if (!(stream instanceof EventStream)) throw new Error('not a stream');
  const reasoningDetails: ReasoningDetailUnion[] = [];
  const toolCalls: ChatToolCall[] = [];
  let content = '';
  for await (const chunk of stream) {
    const delta = chunk.choices[0]?.delta;
    content += delta?.content ?? '';
    reasoningDetails.push(...(delta?.reasoningDetails ?? []));
    for (const { index, id, function: called } of delta?.toolCalls ?? []) {
      const call = (toolCalls[index] ??= { id: '', type: 'function', function: { name: '', arguments: '' } });
      call.id += id ?? '';
      call.function.name += called?.name ?? '';
      call.function.arguments += called?.arguments ?? '';
    }
  }
  return { role: 'assistant', content, reasoningDetails, ...(toolCalls.length > 0 ? { toolCalls } : {}) };
}

describe.each(DIALECTS)('%s over Responses', (model) => {
  const responsesRequest = {
    model,
    reasoning: { effort: 'low' as const, summary: 'auto' as const },
    tools: tools.map(({ type, function: named }) => ({ type, ...named, strict: false })),
    // The SDK says that nothing is to be kept: then reasoning comes back in what the client holds.
    include: ['reasoning.encrypted_content' as const],
  };

  test('answers whole, over two turns', async () => {
    const input: InputsUnion = [{ role: 'user', content: TASK }];
    for (;;) {
      const answer = await client.responses.send({ responsesRequest: { ...responsesRequest, input } });
      if (!('output' in answer)) throw new Error('not an answer');
      expect(answer.usage?.totalTokens).toBeGreaterThan(0);
      const calls = answer.output.filter((item) => item.type === 'function_call');
      input.push(...(answer.output as typeof input));
      for (const { callId, arguments: given } of calls)
        input.push({ type: 'function_call_output', callId, output: `fog: ${given}` });
      if (calls.length > 0) continue;
      const said = answer.output.find((item) => item.type === 'message');
      expect(said?.content).toMatchObject([{ text: 'get_weather returned: fog: {"city":"Oslo"}' }]);
      return;
    }
  });

  test('streams events that the SDK knows, each of them', async () => {
    const stream = await client.responses.send({
      responsesRequest: { ...responsesRequest, input: 'call get_weather {"city": "Lima"}', stream: true },
    });
    if (!(stream instanceof EventStream)) throw new Error('not a stream');
    const types: string[] = [];
    const unknown: unknown[] = [];
    for await (const event of stream) {
      types.push(event.type);
      if (event.type === 'UNKNOWN') unknown.push(at(event.raw, 'type'));
    }
    // Relayed events are the upstream's own: OpenAI leaves the name out at the end of arguments.
    const own = model === 'sim/responses' ? ['response.function_call_arguments.done'] : [];
    expect(unknown).toEqual(own);
    expect(types.slice(0, 2)).toEqual(['response.created', 'response.in_progress']);
    expect(types.at(-1)).toBe('response.completed');
  });
});

// Upstreams decide what relayed streams hold, and OpenAI announces counts by `usage: null`, which the SDK refuses.
test.each(DIALECTS.filter((model) => model !== 'sim/chat'))(
  '%s sends usage at the end of a stream',
  async (model) => {
    const stream = await client.chat.send({
      chatRequest: {
        model,
        messages: [{ role: 'user', content: 'Hello' }],
        stream: true,
        streamOptions: { includeUsage: true },
      },
    });
    if (!(stream instanceof EventStream)) throw new Error('not a stream');
    const counts: number[] = [];
    for await (const { usage } of stream) if (usage) counts.push(usage.totalTokens);
    expect(counts).toEqual([expect.any(Number)]);
  },
);

test('models are listed, with prices where they are known', async () => {
  const { result } = await client.models.list();
  const model = result.data.find(({ id }) => id === 'sim/chat');
  expect(model).toMatchObject({ contextLength: 128_000, pricing: { prompt: '0.000001' } });
});

// Its own error classes want a number for `code`, where OpenAI's shape has a word.
test('an error keeps its status', async () => {
  const error: unknown = await client.chat
    .send({ chatRequest: { model: 'sim/none', messages: [{ role: 'user', content: 'Hello' }] } })
    .catch((failure: unknown) => failure);
  expect(error).toBeInstanceOf(OpenRouterError);
  expect((error as OpenRouterError).statusCode).toBe(404);
});
