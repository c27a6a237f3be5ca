// Libraries that leave their conversations with the gateway, as they do unless they are told otherwise: the AI SDK's
// default model refers to stored items, LangChain to the response before, OpenAI's SDK to a conversation.
import { createOpenAI } from '@ai-sdk/openai';
import { HumanMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, isStepCount, streamText, tool, type ModelMessage } from 'ai';
import { afterAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { z } from 'zod';
import { startEveryUpstream, UPSTREAMS } from '../../support/upstreams/every-upstream.ts';

const gateway = await startEveryUpstream();
afterAll(() => gateway.close());

const TASK = 'Please do this.\ncall get_weather {"city": "Lima"}\ncall get_weather {"city": "Oslo"}';

describe.each(UPSTREAMS)('%s', (id) => {
  test.each([false, true])("the AI SDK's default model (stream: %p)", async (stream) => {
    const messages: ModelMessage[] = [{ role: 'user', content: TASK }];
    const ask = async (): Promise<string> => {
      const options = {
        model: createOpenAI({ baseURL: gateway.baseURL, apiKey: gateway.key })(id),
        messages,
        tools: {
          get_weather: tool({
            inputSchema: z.object({ city: z.string() }),
            execute: ({ city }) => Promise.resolve(`fog in ${city}`),
          }),
        },
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

  test('LangChain with useResponsesApi', async () => {
    const weather = langchainTool(({ city }: { city: string }) => `fog in ${city}`, {
      name: 'get_weather',
      description: 'Weather of a city',
      schema: z.object({ city: z.string() }),
    });
    const model = new ChatOpenAI({
      model: id,
      apiKey: gateway.key,
      maxRetries: 0,
      useResponsesApi: true,
      configuration: { baseURL: gateway.baseURL },
    }).bindTools([weather]);
    const history: BaseMessage[] = [];
    const ask = async (question: string): Promise<string> => {
      history.push(new HumanMessage(question));
      for (;;) {
        const answer = await model.invoke(history);
        history.push(answer);
        if (!answer.tool_calls?.length) return answer.text;
        for (const call of answer.tool_calls) {
          const content = await weather.invoke(call.args as { city: string });
          history.push(new ToolMessage({ content, tool_call_id: call.id ?? '' }));
        }
      }
    };
    expect(await ask(TASK)).toBe('get_weather returned: fog in Oslo');
    expect(await ask('call get_weather {"city": "Rome"}')).toBe('get_weather returned: fog in Rome');
  });

  test("OpenAI's SDK, in a conversation", async () => {
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
    expect(await ask(TASK)).toBe('get_weather returned: {"city":"Oslo"}');
    expect(await ask('call get_weather {"city": "Rome"}')).toBe('get_weather returned: {"city":"Rome"}');
    const items = await client.conversations.items.list(conversation.id, { limit: 100 });
    expect(items.data.filter(({ type }) => type === 'function_call_output')).toHaveLength(3);
  });
});
