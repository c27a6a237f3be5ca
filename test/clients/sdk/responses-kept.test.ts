// Libraries that leave their conversations with the gateway, as they do unless they are told otherwise: the AI SDK's
// default model refers to stored items, LangChain to the response before, OpenAI's SDK to a conversation.
import { createOpenAI } from '@ai-sdk/openai';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, isStepCount, streamText, type ModelMessage } from 'ai';
import { afterAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { startEveryUpstream, UPSTREAMS } from '../../support/upstreams/every-upstream.ts';
import { aiSdkWeather, LangChainConversation, TWO_CALLS } from './weather-tools.ts';

const gateway = await startEveryUpstream();
afterAll(() => gateway.close());

describe.each(UPSTREAMS)('%s', (id) => {
  test.each([false, true])("keeps reasoning with the AI SDK's default model (stream: %p)", async (stream) => {
    const messages: ModelMessage[] = [{ role: 'user', content: TWO_CALLS }];
    const ask = async (): Promise<string> => {
      const options = {
        model: createOpenAI({ baseURL: gateway.baseURL, apiKey: gateway.key })(id),
        messages,
        tools: { get_weather: aiSdkWeather },
        stopWhen: isStepCount(5),
      };
      const answer = stream ? streamText(options) : await generateText(options);
      messages.push(...(await answer.responseMessages));
      return answer.text;
    };
    expect(await ask()).toBe('get_weather returned: fog in Oslo');
    messages.push({ role: 'user', content: 'call get_weather {"city": "Rome"}' });
    expect(await ask()).toBe('get_weather returned: fog in Rome');
  });

  test('keeps reasoning with LangChain and useResponsesApi', async () => {
    const model = new ChatOpenAI({
      model: id,
      apiKey: gateway.key,
      maxRetries: 0,
      useResponsesApi: true,
      configuration: { baseURL: gateway.baseURL },
    });
    const conversation = new LangChainConversation(model);
    expect(await conversation.ask(TWO_CALLS)).toMatchObject({ text: 'get_weather returned: fog in Oslo' });
    expect(await conversation.ask('call get_weather {"city": "Rome"}')).toMatchObject({
      text: 'get_weather returned: fog in Rome',
    });
  });

  test("keeps reasoning with OpenAI's SDK, in a conversation", async () => {
    const client = new OpenAI({ baseURL: gateway.baseURL, apiKey: gateway.key, maxRetries: 0 });
    const conversation = await client.conversations.create();
    const ask = async (question: string): Promise<string> => {
      let input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: question }];
      for (;;) {
        const stream = client.responses.stream({
          model: id,
          input,
          conversation: conversation.id,
          tools: [
            {
              type: 'function',
              name: 'get_weather',
              parameters: { type: 'object', properties: { city: { type: 'string' } } },
              strict: false,
            },
          ],
        });
        const answer = await stream.finalResponse();
        input = answer.output.flatMap((item) =>
          item.type === 'function_call'
            ? [{ type: 'function_call_output' as const, call_id: item.call_id, output: item.arguments }]
            : [],
        );
        if (input.length === 0) return answer.output_text;
      }
    };
    expect(await ask(TWO_CALLS)).toBe('get_weather returned: {"city":"Oslo"}');
    expect(await ask('call get_weather {"city": "Rome"}')).toBe('get_weather returned: {"city":"Rome"}');
    const items = await client.conversations.items.list(conversation.id, { limit: 100 });
    expect(items.data.filter(({ type }) => type === 'function_call_output')).toHaveLength(3);
  });
});
