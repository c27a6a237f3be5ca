// LangChain's ChatAnthropic, which speaks Anthropic's Messages, in front of every kind of upstream.
import { ChatAnthropic } from '@langchain/anthropic';
import { HumanMessage, type BaseMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { afterAll, describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { startEveryUpstream, UPSTREAMS } from '../../support/upstreams/every-upstream.ts';

const gateway = await startEveryUpstream();
afterAll(() => gateway.close());

const TASK = 'Please do this.\ncall get_weather {"city": "Lima"}\ncall get_weather {"city": "Oslo"}';
const person = z.object({ name: z.string(), age: z.number().int() });

describe.each(UPSTREAMS)('LangChain, %s', (id) => {
  const model = (options: { readonly thinks?: boolean } = {}): ChatAnthropic =>
    new ChatAnthropic({
      model: id,
      apiKey: gateway.key,
      anthropicApiUrl: gateway.origin,
      maxRetries: 0,
      maxTokens: 4000,
      ...(options.thinks ? { thinking: { type: 'enabled', budget_tokens: 2000 } } : {}),
    });
  const weather = tool(({ city }: { city: string }) => `fog in ${city}`, {
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
