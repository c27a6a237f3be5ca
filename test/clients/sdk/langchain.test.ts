// LangChain's ChatOpenAI with another base URL, over Chat Completions and over Responses, which stores responses or not.
import { ChatOpenAI } from '@langchain/openai';
import { afterAll, describe, expect, test } from 'bun:test';
import { startEveryUpstream, UPSTREAMS } from '../../support/upstreams/every-upstream.ts';
import { at } from '../../support/upstreams/json-path.ts';
import { DESCRIBE_PERSON, person, testLangChain } from './weather-tools.ts';

const gateway = await startEveryUpstream();
afterAll(() => gateway.close());

const APIS = {
  'Chat Completions': { useResponsesApi: false },
  Responses: { useResponsesApi: true },
  'Responses, nothing stored': { useResponsesApi: true, zdrEnabled: true },
} as const;
const CASES = UPSTREAMS.flatMap((id) =>
  (Object.keys(APIS) as (keyof typeof APIS)[]).map((api) => [id, api] as const),
);

describe.each(CASES)('%s over %s', (id, api) => {
  const model = (): ChatOpenAI =>
    new ChatOpenAI({
      model: id,
      apiKey: gateway.key,
      maxRetries: 0,
      ...APIS[api],
      configuration: { baseURL: gateway.baseURL },
    });
  testLangChain(model);

  test('invokes', async () => {
    const answer = await model().invoke('What is 6 x 7?');
    expect(answer.text).toContain('42');
    expect(at(answer, 'usage_metadata', 'total_tokens')).toBeGreaterThan(0);
  });

  test.each(['jsonSchema', 'functionCalling'] as const)('returns structured output (%s)', async (method) => {
    const answer = await model()
      .withStructuredOutput(person, { name: 'person', method })
      .invoke(DESCRIBE_PERSON);
    expect(person.parse(answer)).toEqual(answer);
  });
});
