// The AI SDK, through both of its OpenAI-style providers: over Chat Completions, and over Responses without stored responses,
// where it checks every event against a schema.
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, Output, stepCountIs, streamText, tool, type LanguageModel } from 'ai';
import { afterAll, describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { compatibleModel } from './compatible-model.ts';
import { startEveryUpstream, UPSTREAMS } from '../../support/upstreams/every-upstream.ts';
import { aiSdkWeather, DESCRIBE_PERSON, person } from './weather-tools.ts';

const gateway = await startEveryUpstream();
afterAll(() => gateway.close());

type ProviderOptions = NonNullable<Parameters<typeof generateText>[0]['providerOptions']>;
interface Provider {
  readonly model: (id: string) => LanguageModel;
  readonly options?: ProviderOptions;
  /** Options in the course of tool calls, if others. */
  readonly loop?: ProviderOptions;
}

const openai = createOpenAI({ baseURL: gateway.baseURL, apiKey: gateway.key });
const PROVIDERS: Readonly<Record<string, Provider>> = {
  '@ai-sdk/openai-compatible': { model: (id) => compatibleModel(gateway, id) },
  '@ai-sdk/openai, Chat Completions': { model: (id) => openai.chat(id) },
  '@ai-sdk/openai, Responses': {
    model: (id) => openai.responses(id),
    options: { openai: { store: false } },
    loop: { openai: { store: false, include: ['reasoning.encrypted_content'] } },
  },
};

describe.each(Object.entries(PROVIDERS))('%s', (_, { model: create, options = {}, loop = options }) => {
  describe.each(UPSTREAMS)('%s', (id) => {
    const model = create(id);

    test('answers and counts', async () => {
      const answer = await generateText({ model, prompt: 'What is 6 x 7?', providerOptions: options });
      expect(answer.text).toContain('42');
      expect(answer.finishReason).toBe('stop');
      expect(answer.usage.inputTokens).toBeGreaterThan(0);
    });

    test('streams', async () => {
      const streamed = streamText({ model, prompt: 'count to 12', providerOptions: options });
      let text = '';
      for await (const piece of streamed.textStream) text += piece;
      expect(text).toContain('12');
      expect(await streamed.finishReason).toBe('stop');
      expect((await streamed.usage).outputTokens).toBeGreaterThan(0);
    });

    test.each([false, true])('runs a tool loop (stream: %p)', async (stream) => {
      const asked = {
        model,
        prompt: 'What is the weather in "Lima"?',
        tools: { get_weather: aiSdkWeather },
        stopWhen: stepCountIs(3),
        providerOptions: loop,
      };
      const answer = stream ? streamText(asked) : await generateText(asked);
      expect(await answer.text).toContain('fog in');
      expect(await answer.steps).toHaveLength(2);
    });

    test('returns structured output', async () => {
      const answer = await generateText({
        model,
        prompt: DESCRIBE_PERSON,
        output: Output.object({ schema: person }),
        providerOptions: options,
      });
      expect(person.parse(answer.output)).toEqual(answer.output);
    });

    test('a truncated response reports why it ended', async () => {
      const asked = { model, prompt: 'write 200 words', maxOutputTokens: 40, providerOptions: options };
      expect(await streamText(asked).finishReason).toBe('length');
    });
  });
});

test('reasoning reaches the client, and continues over a tool loop', async () => {
  const streamed = streamText({
    model: compatibleModel(gateway, 'sim/messages'),
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
