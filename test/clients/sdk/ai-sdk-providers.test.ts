// One task through every provider of the AI SDK, each in its own protocol, in front of every kind of upstream: calls at
// the same time, a second turn that builds on the first, reasoning, streams, an answer in a schema.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenRouter } from '@openrouter/ai-sdk-provider';
import { generateText, isStepCount, Output, streamText, type LanguageModel, type ModelMessage } from 'ai';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { compatibleModel } from './compatible-model.ts';
import type { TestGateway } from '../../support/harness.ts';
import { startEveryUpstream, UPSTREAMS } from '../../support/upstreams/every-upstream.ts';
import { shareOf } from '../../support/share.ts';
import { serveSim } from '../../support/sim-server.ts';
import { aiSdkWeather, TWO_CALLS } from './weather-tools.ts';

// Some warn at every call that they do not know the models.
globalThis.AI_SDK_LOG_WARNINGS = false;

const sim = serveSim();
let gateway: TestGateway;
beforeAll(async () => {
  const unpriced = { provider: 'unpriced', protocol: 'anthropic-messages', reasoning: 'both' };
  gateway = await startEveryUpstream({
    providers: {
      unpriced: { api_key: 'none', protocols: { 'anthropic-messages': `${sim.origin}/anthropic` } },
    },
    models: [{ id: UNPRICED, max_output_tokens: 8000, endpoints: [{ ...unpriced, model: 'messages' }] }],
  });
});
afterAll(async () => {
  await gateway.close();
  await sim.stop();
});

interface Provider {
  model(id: string): LanguageModel;
  /** Asks for reasoning, in the provider's own words. */
  readonly thinking: NonNullable<Parameters<typeof generateText>[0]['providerOptions']>;
}

const PROVIDERS: Readonly<Record<string, Provider>> = {
  'openai-compatible': {
    model: (id) => compatibleModel(gateway, id),
    thinking: { dragoman: { reasoningEffort: 'high' } },
  },
  'openai, Chat Completions': {
    model: (id) => createOpenAI({ baseURL: gateway.baseURL, apiKey: gateway.key }).chat(id),
    thinking: { openai: { reasoningEffort: 'high', forceReasoning: true } },
  },
  'openai, Responses': {
    model: (id) => createOpenAI({ baseURL: gateway.baseURL, apiKey: gateway.key }).responses(id),
    thinking: { openai: { reasoningEffort: 'high', reasoningSummary: 'auto', forceReasoning: true } },
  },
  openrouter: {
    // `strict` asks for counts at the end of streams.
    model: (id) =>
      createOpenRouter({ baseURL: gateway.baseURL, apiKey: gateway.key, compatibility: 'strict' }).chat(id),
    thinking: { openrouter: { reasoning: { effort: 'high' } } },
  },
  anthropic: {
    model: (id) => createAnthropic({ baseURL: gateway.baseURL, apiKey: gateway.key })(id),
    thinking: { anthropic: { thinking: { type: 'enabled', budgetTokens: 2000 } } },
  },
  google: {
    model: (id) => createGoogle({ baseURL: `${gateway.origin}/v1beta`, apiKey: gateway.key })(id),
    thinking: { google: { thinkingConfig: { includeThoughts: true, thinkingBudget: 2000 } } },
  },
};
/** A model whose price nobody knows. */
const UNPRICED = 'house/unpriced';
const MODELS = [...UPSTREAMS, UNPRICED];

/** True when reasoning is seen. Chat Completions of OpenAI never show it, on either side of the gateway. */
const SHOWS = (name: string, id: string): boolean => name !== 'openai, Chat Completions' && id !== 'sim/chat';

describe.each(Object.entries(PROVIDERS))('%s', (name, provider) => {
  describe.each(shareOf(MODELS, Object.keys(PROVIDERS).indexOf(name)))('%s', (id) => {
    test.each([false, true])('completes a task with tools over two turns (stream: %p)', async (stream) => {
      const messages: ModelMessage[] = [{ role: 'user', content: TWO_CALLS }];
      const ask = async (): Promise<{ text: string; calls: number; thoughts: number; tokens: number }> => {
        const options = {
          model: provider.model(id),
          messages,
          tools: { get_weather: aiSdkWeather },
          stopWhen: isStepCount(5),
          providerOptions: provider.thinking,
        };
        const answer = stream ? streamText(options) : await generateText(options);
        const steps = await answer.steps;
        messages.push(...(await answer.responseMessages));
        return {
          text: await answer.text,
          calls: steps.flatMap(({ toolCalls }) => toolCalls).length,
          thoughts: steps.filter(({ reasoningText }) => reasoningText).length,
          tokens: (await answer.totalUsage).totalTokens ?? 0,
        };
      };
      const first = await ask();
      expect(first).toMatchObject({ text: 'get_weather returned: fog in Oslo', calls: 2 });
      expect(first.thoughts).toBe(SHOWS(name, id) ? 3 : 0);
      expect(first.tokens).toBeGreaterThan(0);
      messages.push({ role: 'user', content: 'call get_weather {"city": "Rome"}' });
      expect(await ask()).toMatchObject({ text: 'get_weather returned: fog in Rome', calls: 1 });
    });

    test('answers in a schema', async () => {
      const answer = await generateText({
        model: provider.model(id),
        prompt: 'Describe "Ada", 36 years old.',
        output: Output.object({ schema: z.object({ name: z.string(), age: z.number().int() }) }),
      });
      expect(answer.output).toEqual({ name: 'Ada', age: 36 });
    });

    test('a truncated response reports its finish reason and its usage', async () => {
      const streamed = streamText({
        model: provider.model(id),
        prompt: 'write 200 words',
        maxOutputTokens: 40,
      });
      let text = '';
      for await (const piece of streamed.textStream) text += piece;
      expect(text.length).toBeGreaterThan(40);
      expect(await streamed.finishReason).toBe('length');
      expect((await streamed.usage).outputTokens).toBe(40);
    });
  });
});
