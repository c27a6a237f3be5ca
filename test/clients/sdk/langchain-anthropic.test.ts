// LangChain's ChatAnthropic, which speaks Anthropic's Messages, in front of every kind of upstream.
import { ChatAnthropic } from '@langchain/anthropic';
import { afterAll, describe, expect, test } from 'bun:test';
import { startEveryUpstream, UPSTREAMS } from '../../support/upstreams/every-upstream.ts';
import { DESCRIBE_PERSON, LangChainConversation, person, TWO_CALLS } from './weather-tools.ts';

const gateway = await startEveryUpstream();
afterAll(() => gateway.close());

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
  test('streams', async () => {
    let text = '';
    for await (const chunk of await model().stream('count to 12')) text += chunk.text;
    expect(text).toContain('12');
  });

  test.each([false, true])('calls tools over two turns (thinking: %p)', async (thinks) => {
    const conversation = new LangChainConversation(model({ thinks }));
    expect(await conversation.ask(TWO_CALLS)).toEqual({
      text: 'get_weather returned: fog in Oslo',
      calls: 2,
    });
    expect(await conversation.ask('call get_weather {"city": "Rome"}')).toEqual({
      text: 'get_weather returned: fog in Rome',
      calls: 1,
    });
  });

  test('returns structured output', async () => {
    const answer = await model()
      .withStructuredOutput(person, { name: 'person', method: 'functionCalling' })
      .invoke(DESCRIBE_PERSON);
    expect(answer).toEqual({ name: 'Ada', age: 36 });
  });
});
