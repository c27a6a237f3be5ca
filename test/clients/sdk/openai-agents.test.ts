// OpenAI's Agents SDK, over Responses (its default) and over Chat Completions: tools, a hand-over to another agent,
// typed answers, streams, and both of its ways to go on with a conversation.
import {
  Agent,
  OpenAIChatCompletionsModel,
  OpenAIConversationsSession,
  OpenAIResponsesModel,
  run,
  setTracingDisabled,
  tool,
  user,
  type AgentInputItem,
  type Model,
} from '@openai/agents';
import { afterAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { z } from 'zod';
import { startEveryUpstream, UPSTREAMS } from '../../support/upstreams/every-upstream.ts';

setTracingDisabled(true);

const gateway = await startEveryUpstream();
const client = new OpenAI({ apiKey: gateway.key, baseURL: gateway.baseURL, maxRetries: 0 });
afterAll(() => gateway.close());

const weather = tool({
  name: 'get_weather',
  description: 'Weather of a city',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => Promise.resolve(`fog in ${city}`),
});
const time = tool({
  name: 'get_time',
  description: 'Time in a city',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => Promise.resolve(`noon in ${city}`),
});
const TASK = 'Please do this.\ncall get_weather {"city": "Lima"}\ncall get_time {"city": "Lima"}';

const models: Record<string, (id: string) => Model> = {
  Responses: (id) => new OpenAIResponsesModel(client, id),
  'Chat Completions': (id) => new OpenAIChatCompletionsModel(client, id),
};

describe.each(['Responses', 'Chat Completions'])('over %s', (api) => {
  describe.each(UPSTREAMS)('%s', (id) => {
    const model = (): Model => {
      const create = models[api];
      if (!create) throw new Error('no such API');
      return create(id);
    };
    const agent = (): Agent =>
      new Agent({ name: 'Guide', instructions: 'Help.', model: model(), tools: [weather, time] });

    test.each([false, true])(
      'calls two tools in turn, then answers another question (stream: %p)',
      async (stream) => {
        const ask = async (
          input: AgentInputItem[],
        ): Promise<{ output: unknown; history: AgentInputItem[] }> => {
          if (!stream) {
            const done = await run(agent(), input);
            return { output: done.finalOutput, history: done.history };
          }
          const running = await run(agent(), input, { stream: true });
          let text = '';
          for await (const piece of running.toTextStream()) text += piece;
          await running.completed;
          expect(text).toBe(String(running.finalOutput));
          return { output: running.finalOutput, history: running.history };
        };
        const first = await ask([user(TASK)]);
        expect(first.output).toBe('get_time returned: noon in Lima');
        expect(first.history.filter(({ type }) => type === 'function_call')).toHaveLength(2);
        const second = await ask([...first.history, user('call get_weather {"city": "Oslo"}')]);
        expect(second.output).toBe('get_weather returned: fog in Oslo');
      },
    );

    test('hands over to another agent', async () => {
      const clerk = new Agent({ name: 'Clerk', instructions: 'Help.', model: model() });
      const desk = new Agent({ name: 'Desk', instructions: 'Help.', model: model(), handoffs: [clerk] });
      const done = await run(desk, 'Please transfer.\ncall transfer_to_Clerk {}');
      expect(done.lastAgent?.name).toBe('Clerk');
      expect(String(done.finalOutput)).toContain('Clerk');
    });

    test('answers in a type', async () => {
      const outputType = z.object({ name: z.string(), age: z.number().int() });
      const writer = new Agent({ name: 'Writer', instructions: 'Describe.', model: model(), outputType });
      const done = await run(writer, 'Describe "Ada", 36 years old.');
      expect(outputType.parse(done.finalOutput)).toEqual({ name: 'Ada', age: 36 });
    });
  });
});

describe.each(UPSTREAMS)('state that the gateway stores, %s', (id) => {
  const agent = (): Agent =>
    new Agent({
      name: 'Guide',
      instructions: 'Help.',
      model: new OpenAIResponsesModel(client, id),
      tools: [weather, time],
    });

  test('continues from a response', async () => {
    const first = await run(agent(), TASK);
    const previousResponseId = first.lastResponseId ?? '';
    const second = await run(agent(), 'call get_weather {"city": "Oslo"}', { previousResponseId });
    expect(second.finalOutput).toBe('get_weather returned: fog in Oslo');
    const items = await client.responses.inputItems.list(second.lastResponseId ?? '', { limit: 100 });
    const calls = items.data.filter(({ type }) => type === 'function_call');
    expect(calls).toHaveLength(3);
  });

  test('continues in a conversation', async () => {
    const session = new OpenAIConversationsSession({ client });
    await run(agent(), TASK, { session });
    const second = await run(agent(), 'call get_weather {"city": "Oslo"}', { session });
    expect(second.finalOutput).toBe('get_weather returned: fog in Oslo');
    const items = await session.getItems();
    expect(items.filter(({ type }) => type === 'function_call')).toHaveLength(3);
  });
});
