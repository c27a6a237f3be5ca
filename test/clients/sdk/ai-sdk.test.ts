// The AI SDK, through both of its OpenAI-style providers.
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, Output, stepCountIs, streamText, tool, type LanguageModel } from 'ai';
import { afterAll, describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { startEveryUpstream, UPSTREAMS } from '../../support/upstreams/every-upstream.ts';

const gateway = await startEveryUpstream();
afterAll(() => gateway.close());

const providers: Record<string, (id: string) => LanguageModel> = {
  '@ai-sdk/openai-compatible': (id) =>
    createOpenAICompatible({
      name: 'dragoman',
      baseURL: gateway.baseURL,
      apiKey: gateway.key,
      includeUsage: true,
      supportsStructuredOutputs: true,
    })(id),
  '@ai-sdk/openai': (id) => createOpenAI({ baseURL: gateway.baseURL, apiKey: gateway.key }).chat(id),
};

describe.each(Object.keys(providers))('%s', (name) => {
  describe.each(UPSTREAMS)('%s', (id) => {
    const model = (): LanguageModel => {
      const create = providers[name];
      if (!create) throw new Error('no such provider');
      return create(id);
    };
    const weather = tool({
      description: 'Weather of a city',
      inputSchema: z.object({ city: z.string() }),
      execute: ({ city }) => Promise.resolve(`fog in ${city}`),
    });

    test('answers and counts', async () => {
      const answer = await generateText({ model: model(), prompt: 'What is 6 x 7?' });
      expect(answer.text).toContain('42');
      expect(answer.finishReason).toBe('stop');
      expect(answer.usage.inputTokens).toBeGreaterThan(0);
    });

    test('streams', async () => {
      const streamed = streamText({ model: model(), prompt: 'count to 12' });
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
      };
      const answer = stream ? streamText(options) : await generateText(options);
      expect(await answer.text).toContain('fog in');
      expect(await answer.steps).toHaveLength(2);
    });

    test('structured output', async () => {
      const schema = z.object({ name: z.string(), age: z.number().int() });
      const answer = await generateText({
        model: model(),
        prompt: 'Describe "Ada", 36 years old.',
        output: Output.object({ schema }),
      });
      expect(schema.parse(answer.output)).toEqual(answer.output);
    });
  });
});

test('reasoning reaches the client, and goes on over a tool loop', async () => {
  const create = providers['@ai-sdk/openai-compatible'];
  if (!create) throw new Error('no such provider');
  const streamed = streamText({
    model: create('sim/messages'),
    prompt: 'What is the weather in "Lima"?',
    providerOptions: { dragoman: { reasoningEffort: 'high' } },
    tools: {
      get_weather: tool({
        inputSchema: z.object({ city: z.string() }),
        execute: () => Promise.resolve('fog'),
      }),
    },
    stopWhen: stepCountIs(3),
  });
  const steps = await streamed.steps;
  expect(steps).toHaveLength(2);
  // The client keeps no signatures; the gateway does, so the model goes on thinking in its second step.
  for (const step of steps) expect(step.reasoningText).toBeTruthy();
});
