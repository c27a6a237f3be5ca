// Libraries that speak Anthropic's Messages: the AI SDK's anthropic provider and LangChain's ChatAnthropic, in front of
// every kind of upstream.
import { createAnthropic } from '@ai-sdk/anthropic';
import { ChatAnthropic } from '@langchain/anthropic';
import { HumanMessage, type BaseMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import {
  generateText,
  isStepCount,
  Output,
  streamText,
  tool,
  type LanguageModel,
  type ModelMessage,
} from 'ai';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { startGateway, type TestGateway } from '../harness.ts';

// It warns that it does not know the models, at every call.
globalThis.AI_SDK_LOG_WARNINGS = false;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

const TASK = 'Please do this.\ncall get_weather {"city": "Lima"}\ncall get_weather {"city": "Oslo"}';
const person = z.object({ name: z.string(), age: z.number().int() });

describe.each(['sim/chat', 'sim/responses', 'sim/messages'])('the AI SDK, %s', (id) => {
  const model = (): LanguageModel => createAnthropic({ baseURL: gateway.baseURL, apiKey: gateway.key })(id);
  const weather = tool({
    description: 'Weather of a city',
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => Promise.resolve(`fog in ${city}`),
  });

  test('streams, and counts', async () => {
    const streamed = streamText({ model: model(), prompt: 'count to 12' });
    let text = '';
    for await (const piece of streamed.textStream) text += piece;
    expect(text).toContain('12');
    expect(await streamed.finishReason).toBe('stop');
    const { inputTokens, outputTokens } = await streamed.usage;
    expect(inputTokens).toBeGreaterThan(0);
    expect(outputTokens).toBeGreaterThan(0);
  });

  test.each([false, true])('thinks between calls, over two turns (stream: %p)', async (stream) => {
    const messages: ModelMessage[] = [{ role: 'user', content: TASK }];
    const ask = async (): Promise<{ text: string; thoughts: number }> => {
      const options = {
        model: model(),
        messages,
        tools: { get_weather: weather },
        stopWhen: isStepCount(5),
        providerOptions: { anthropic: { thinking: { type: 'enabled' as const, budgetTokens: 2000 } } },
      };
      const answer = stream ? streamText(options) : await generateText(options);
      const steps = await answer.steps;
      messages.push(...(await answer.responseMessages));
      return {
        text: await answer.text,
        thoughts: steps.filter(({ reasoningText }) => reasoningText !== undefined && reasoningText !== '')
          .length,
      };
    };
    const first = await ask();
    expect(first.text).toBe('get_weather returned: fog in Oslo');
    // OpenAI's Chat Completions count reasoning and never show it.
    expect(first.thoughts).toBe(id === 'sim/chat' ? 0 : 3);
    messages.push({ role: 'user', content: 'call get_weather {"city": "Rome"}' });
    expect((await ask()).text).toBe('get_weather returned: fog in Rome');
  });

  test('structured output', async () => {
    const answer = await generateText({
      model: model(),
      prompt: 'Describe "Ada", 36 years old.',
      output: Output.object({ schema: person }),
    });
    expect(answer.output).toEqual({ name: 'Ada', age: 36 });
  });

  test('an answer that was cut says so', async () => {
    const answer = await generateText({ model: model(), prompt: 'write 200 words', maxOutputTokens: 40 });
    expect(answer.finishReason).toBe('length');
  });
});

describe.each(['sim/chat', 'sim/responses', 'sim/messages'])('LangChain, %s', (id) => {
  const model = (options: { readonly thinks?: boolean } = {}): ChatAnthropic =>
    new ChatAnthropic({
      model: id,
      apiKey: gateway.key,
      anthropicApiUrl: gateway.origin,
      maxRetries: 0,
      maxTokens: 4000,
      ...(options.thinks ? { thinking: { type: 'enabled', budget_tokens: 2000 } } : {}),
    });
  const weather = langchainTool(({ city }: { city: string }) => `fog in ${city}`, {
    name: 'get_weather',
    description: 'Weather of a city',
    schema: z.object({ city: z.string() }),
  });

  test('streams', async () => {
    let text = '';
    for await (const chunk of await model().stream('count to 12')) text += chunk.text;
    expect(text).toContain('12');
  });

  test.each([false, true])('calls tools over two turns (thinking: %p)', async (thinks) => {
    const bound = model({ thinks }).bindTools([weather]);
    const history: BaseMessage[] = [];
    const ask = async (question: string): Promise<string> => {
      history.push(new HumanMessage(question));
      for (;;) {
        const answer = await bound.invoke(history);
        history.push(answer);
        if (!answer.tool_calls?.length) return answer.text;
        for (const call of answer.tool_calls)
          history.push((await weather.invoke({ ...call, type: 'tool_call' })) as BaseMessage);
      }
    };
    expect(await ask(TASK)).toBe('get_weather returned: fog in Oslo');
    expect(await ask('call get_weather {"city": "Rome"}')).toBe('get_weather returned: fog in Rome');
  });

  test('structured output', async () => {
    const answer = await model()
      .withStructuredOutput(person, { name: 'person', method: 'functionCalling' })
      .invoke('Describe "Ada", 36 years old.');
    expect(answer).toEqual({ name: 'Ada', age: 36 });
  });
});
