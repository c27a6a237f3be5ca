// Client libraries that speak the Responses API by themselves: the AI SDK, which checks every event against a schema,
// and LangChain. Nothing is kept by the gateway here: what a turn needs, the client brings.
import { createOpenAI } from '@ai-sdk/openai';
import { HumanMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, Output, stepCountIs, streamText, tool, type LanguageModel } from 'ai';
import { afterAll, describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { startGateway } from '../../support/harness.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

const person = z.object({ name: z.string(), age: z.number().int() });

describe.each(['sim/chat', 'sim/responses', 'sim/messages'])('the AI SDK, %s', (id) => {
  const model = (): LanguageModel =>
    createOpenAI({ baseURL: gateway.baseURL, apiKey: gateway.key }).responses(id);
  const providerOptions = { openai: { store: false } };
  const weather = tool({
    description: 'Weather of a city',
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => Promise.resolve(`fog in ${city}`),
  });

  test('answers and counts', async () => {
    const answer = await generateText({ model: model(), prompt: 'What is 6 x 7?', providerOptions });
    expect(answer.text).toContain('42');
    expect(answer.finishReason).toBe('stop');
    expect(answer.usage.inputTokens).toBeGreaterThan(0);
  });

  test('streams', async () => {
    const streamed = streamText({ model: model(), prompt: 'count to 12', providerOptions });
    let text = '';
    for await (const piece of streamed.textStream) text += piece;
    expect(text).toContain('12');
    expect(await streamed.finishReason).toBe('stop');
    expect((await streamed.usage).outputTokens).toBeGreaterThan(0);
  });

  test.each([false, true])('runs a tool loop (stream: %p)', async (stream) => {
    const options = {
      model: model(),
      prompt: 'What is the weather in "Lima"?',
      tools: { get_weather: weather },
      stopWhen: stepCountIs(3),
      providerOptions: { openai: { store: false, include: ['reasoning.encrypted_content'] } },
    };
    const answer = stream ? streamText(options) : await generateText(options);
    expect(await answer.text).toContain('fog in');
    expect(await answer.steps).toHaveLength(2);
  });

  test('structured output', async () => {
    const answer = await generateText({
      model: model(),
      prompt: 'Describe "Ada", 36 years old.',
      output: Output.object({ schema: person }),
      providerOptions,
    });
    expect(person.parse(answer.output)).toEqual(answer.output);
  });

  test('a truncated response reports why it ended', async () => {
    const streamed = streamText({
      model: model(),
      prompt: 'write 200 words',
      maxOutputTokens: 40,
      providerOptions,
    });
    expect(await streamed.finishReason).toBe('length');
  });
});

describe.each(['sim/chat', 'sim/responses', 'sim/messages'])('LangChain, %s', (id) => {
  const model = (): ChatOpenAI =>
    new ChatOpenAI({
      model: id,
      apiKey: gateway.key,
      maxRetries: 0,
      useResponsesApi: true,
      zdrEnabled: true,
      configuration: { baseURL: gateway.baseURL },
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

  test('calls tools over two turns', async () => {
    const bound = model().bindTools([weather]);
    const history: BaseMessage[] = [new HumanMessage('What is the weather in "Lima"?')];
    const asked = await bound.invoke(history);
    expect(asked.tool_calls).toHaveLength(1);
    history.push(asked);
    for (const call of asked.tool_calls ?? []) {
      const content = await weather.invoke(call.args as { city: string });
      history.push(new ToolMessage({ content, tool_call_id: call.id ?? '' }));
    }
    expect((await bound.invoke(history)).text).toContain('fog in');
  });

  test('structured output', async () => {
    const answer = await model()
      .withStructuredOutput(person, { name: 'person', method: 'jsonSchema' })
      .invoke('Describe "Ada", 36 years old.');
    expect(person.parse(answer)).toEqual(answer);
  });
});
