// LangChain's ChatOpenAI with another base URL, over Chat Completions and over Responses.
import { HumanMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { afterAll, describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { startEveryUpstream, UPSTREAMS } from '../../support/upstreams/every-upstream.ts';
import { at } from '../../support/upstreams/json-path.ts';

const gateway = await startEveryUpstream();
afterAll(() => gateway.close());

const CASES = UPSTREAMS.flatMap((id) => [[id, 'Chat Completions'] as const, [id, 'Responses'] as const]);

describe.each(CASES)('%s over %s', (id, api) => {
  const model = (): ChatOpenAI =>
    new ChatOpenAI({
      model: id,
      apiKey: gateway.key,
      maxRetries: 0,
      useResponsesApi: api === 'Responses',
      configuration: { baseURL: gateway.baseURL },
    });
  const weather = tool(({ city }: { city: string }) => `fog in ${city}`, {
    name: 'get_weather',
    description: 'Weather of a city',
    schema: z.object({ city: z.string() }),
  });

  test('invokes', async () => {
    const answer = await model().invoke('What is 6 x 7?');
    expect(answer.text).toContain('42');
    expect(at(answer, 'usage_metadata', 'total_tokens')).toBeGreaterThan(0);
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
    const schema = z.object({ name: z.string(), age: z.number().int() });
    const answer = await model()
      .withStructuredOutput(schema, { name: 'person', method: 'jsonSchema' })
      .invoke('Describe "Ada", 36 years old.');
    expect(schema.parse(answer)).toEqual(answer);
    const called = await model()
      .withStructuredOutput(schema, { name: 'person', method: 'functionCalling' })
      .invoke('Describe "Ada", 36 years old.');
    expect(schema.parse(called)).toEqual(called);
  });
});
