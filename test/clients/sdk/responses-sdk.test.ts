// The official OpenAI SDK, unmodified, speaks the Responses API to the gateway in front of each of the three upstream
// protocols, in both lanes. What it must not see is any difference between them.
import { afterAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import type { FunctionTool, Response as Answer, ResponseInput } from 'openai/resources/responses/responses';
import { startGateway } from '../../support/harness.ts';
import { startEveryUpstream, UPSTREAMS } from '../../support/upstreams/every-upstream.ts';
import { framesOf } from '../../support/recordings/loose.ts';
import { rejection } from '../../support/rejection.ts';
import { checkResponse, checkResponseStream } from '../../support/rules/responses-stream-rules.ts';
import { CITY } from '../../support/city-schema.ts';

const gateway = await startEveryUpstream();
const client = new OpenAI({ apiKey: gateway.key, baseURL: gateway.baseURL, maxRetries: 0 });
afterAll(() => gateway.close());

const weather: FunctionTool = {
  type: 'function',
  name: 'get_weather',
  description: 'Weather of a city',
  parameters: CITY,
  strict: true,
};
/** Nothing to keep and nothing to add: a faithful upstream's answers are relayed. */
const relayed = { reasoning: { effort: 'low', summary: 'auto' }, store: false } as const;
const QUESTION = 'What is 6 x 7?';

/** Shows nothing: Gemini signs the words of a stream behind them, and those of a whole answer with its thoughts. */
const isEmpty = (item: Answer['output'][number]): boolean =>
  item.type === 'reasoning' && item.summary.length === 0 && item.content === undefined;

/** The members that tell of the request and the answer, without those that differ from call to call. */
function comparable(answer: Answer): object {
  const { id: _, created_at: _at, completed_at: _end, output, output_text: _text, ...others } = answer;
  return {
    ...others,
    output: output
      .filter((item) => !isEmpty(item))
      .map(({ id: __, ...item }) => ({ ...item, call_id: null })),
  };
}

async function stream(body: object): Promise<{ lane: string | null; text: string }> {
  const response = await gateway.post('/responses', { ...body, stream: true });
  expect(response.status).toBe(200);
  return { lane: response.headers.get('x-dragoman-lane'), text: await response.text() };
}

describe.each([
  ...UPSTREAMS.map((model) => [model, {}] as const),
  ['sim/responses', relayed],
  ['sim/messages', relayed],
] as const)('%s %j', (model, options) => {
  test('answers', async () => {
    const answer = await client.responses.create({
      model,
      input: QUESTION,
      instructions: 'Be brief.',
      ...options,
    });
    expect(checkResponse(answer)).toEqual([]);
    expect(answer.model).toBe(model);
    expect(answer.status).toBe('completed');
    expect(answer.output_text).toContain('42');
    expect(answer.instructions).toBe('Be brief.');
    const { usage } = answer;
    expect(usage?.input_tokens).toBeGreaterThan(0);
  });

  test('streams the same answer in a legal order', async () => {
    const body = { model, input: 'count to 20', ...options };
    const whole = await client.responses.create(body);
    const { lane, text } = await stream(body);
    expect(lane).toBe(model === 'sim/responses' && 'reasoning' in options ? 'relay' : 'translate');
    const frames = framesOf(text);
    expect(checkResponseStream(frames)).toEqual([]);
    const last = (JSON.parse(frames.at(-1)?.data ?? '{}') as { response: Answer }).response;
    expect(comparable(last)).toEqual(comparable(whole));
    expect(text).not.toContain('[DONE]');
  });

  test('streams through the helper of the SDK', async () => {
    const helper = client.responses.stream({ model, input: 'count to 20', ...options });
    let written = '';
    helper.on('response.output_text.delta', (event) => (written += event.delta));
    const answer = await helper.finalResponse();
    expect(written).toBe(answer.output_text);
    expect(written).toContain('20');
  });

  test('calls tools in parallel and takes the results back with its own items', async () => {
    const input: ResponseInput = [{ role: 'user', content: 'parallel weather of "Rome" and "Oslo"' }];
    const common = { model, tools: [weather], store: false, ...options };
    const include: 'reasoning.encrypted_content'[] = ['reasoning.encrypted_content'];
    const helper = client.responses.stream({ ...common, input, include });
    const first = await helper.finalResponse();
    expect(checkResponse(first)).toEqual([]);
    const calls = first.output.filter((item) => item.type === 'function_call');
    expect(calls).toHaveLength(2);
    expect(new Set(calls.map((call) => call.id)).size).toBe(2);
    for (const call of calls) expect(JSON.parse(call.arguments)).toHaveProperty('city');
    const results = calls.map((call) => ({
      type: 'function_call_output' as const,
      call_id: call.call_id,
      output: 'sunny',
    }));
    const second = await client.responses.create({
      ...common,
      include,
      input: [...input, ...(first.output as ResponseInput), ...results],
    });
    expect(second.output_text).toContain('get_weather returned: sunny');
  });

  test('fills a schema, and parses it', async () => {
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer' } },
      required: ['city', 'days'],
      additionalProperties: false,
    };
    const answer = await client.responses.parse({
      model,
      input: 'Plan 3 days in "Rome"',
      text: { format: { type: 'json_schema', name: 'plan', schema, strict: true } },
      ...options,
    });
    const plan = JSON.parse(answer.output_text) as { days: number };
    expect(Number.isInteger(plan.days)).toBe(true);
    expect(answer.text?.format).toEqual({ type: 'json_schema', name: 'plan', schema, strict: true });
  });

  test('reports that the limit truncated the response', async () => {
    const body = { model, input: 'write 200 words', max_output_tokens: 40, ...options };
    const answer = await client.responses.create(body);
    expect(answer.status).toBe('incomplete');
    expect(answer.incomplete_details).toEqual({ reason: 'max_output_tokens' });
    const frames = framesOf((await stream(body)).text);
    expect(checkResponseStream(frames)).toEqual([]);
    expect(frames.at(-1)?.event).toBe('response.incomplete');
  });

  test('finds the record of the answer by its id', async () => {
    const answer = await client.responses.create({ model, input: QUESTION, ...options });
    const found = await gateway.get(`/generation?id=${answer.id}`);
    expect(found.status).toBe(200);
    expect(((await found.json()) as { api: string }).api).toBe('responses');
  });
});

test('serves clients that use the URL of the operation as the base URL, which doubles the path', async () => {
  const doubled = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.baseURL}/responses`, maxRetries: 0 });
  expect((await doubled.responses.create({ model: 'sim/chat', input: QUESTION })).output_text).toContain(
    '42',
  );
});

test('custom tools are called as custom tools, also by a model that supports only functions', async () => {
  const tool = { type: 'custom', name: 'run_sql', description: 'Runs a query' } as const;
  for (const model of ['sim/chat', 'sim/deepseek', 'sim/responses', 'sim/messages']) {
    const helper = client.responses.stream({ model, input: 'call "run_sql"', tools: [tool] });
    const answer = await helper.finalResponse();
    const call = answer.output.find((item) => item.type === 'custom_tool_call');
    expect(`${model} ${call?.name}`).toBe(`${model} run_sql`);
    expect(call?.input).toBeString();
    const frames = framesOf((await stream({ model, input: 'call "run_sql"', tools: [tool] })).text);
    expect(checkResponseStream(frames)).toEqual([]);
  }
});

test('returns summaries and encrypted reasoning only if the request asks for them', async () => {
  const ask = async (options: object): Promise<string> =>
    JSON.stringify(
      (await client.responses.create({ model: 'sim/responses', input: QUESTION, ...options })).output,
    );
  expect(await ask({})).not.toMatch(/encrypted_content|summary_text/);
  const shown = await ask({ include: ['reasoning.encrypted_content'], reasoning: { summary: 'auto' } });
  expect(shown).toMatch(/encrypted_content/);
  expect(shown).toMatch(/summary_text/);
});

describe.each(['openai-chat', 'openai-responses', 'anthropic-messages'])('failures over %s', (protocol) => {
  test('an interrupted stream ends in response.failed, and the SDK throws', async () => {
    const config = {
      models: [{ id: 'm', endpoints: [{ provider: 'sim', model: 'cut-after-40', protocol }] }],
    };
    await using own = await startGateway(config);
    const response = await own.post('/responses', { model: 'm', input: 'write 200 words', stream: true });
    const frames = framesOf(await response.text());
    expect(checkResponseStream(frames)).toEqual([]);
    expect(frames.slice(-2).map((frame) => frame.event)).toEqual(['error', 'response.failed']);
    const sdk = new OpenAI({ apiKey: own.key, baseURL: own.baseURL, maxRetries: 0 });
    const events = await sdk.responses.create({ model: 'm', input: 'write 200 words', stream: true });
    const read = async (): Promise<void> => {
      for await (const _ of events) continue;
    };
    expect(await rejection(read())).toBeInstanceOf(OpenAI.APIError);
  });

  test('an error before the answer has the status and the body of the API', async () => {
    await using own = await startGateway({
      models: [{ id: 'm', endpoints: [{ provider: 'sim', model: 'context-overflow', protocol }] }],
    });
    const response = await own.post('/responses', { model: 'm', input: 'hi', stream: true });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'context_length_exceeded' } });
  });
});
