// Upstreams that count more tokens than any answer has: what is recorded and charged stays a number that sums can hold.
import { afterAll, expect, test } from 'bun:test';
import { startGateway } from '../support/harness.ts';

const HUGE = 1e300;
const MOST = 1_000_000_000;

/** Answers of each protocol to every request. */
const ANSWERS: Readonly<Record<string, object>> = {
  'openai-chat': {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'a',
    choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: HUGE, completion_tokens: 1, total_tokens: HUGE },
  },
  'openai-responses': {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'a',
    output: [
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'a', annotations: [] }],
      },
    ],
    usage: { input_tokens: HUGE, output_tokens: 1, total_tokens: HUGE },
  },
  'anthropic-messages': {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'a',
    content: [{ type: 'text', text: 'a' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: HUGE, output_tokens: 1 },
  },
  gemini: {
    candidates: [{ content: { role: 'model', parts: [{ text: 'a' }] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: HUGE, candidatesTokenCount: 1, totalTokenCount: HUGE },
  },
};
const PROTOCOLS = Object.keys(ANSWERS);
/** Next count of an upstream that is asked to count or to embed. */
let counted: number = HUGE;
const embedded = (): object => ({
  object: 'list',
  model: 'a',
  data: [{ object: 'embedding', index: 0, embedding: [1] }],
  usage: { prompt_tokens: counted, total_tokens: counted },
  embeddings: [{ values: [1] }],
  usageMetadata: { promptTokenCount: counted },
});
const upstream = Bun.serve({
  port: 0,
  fetch: ({ url }) => {
    const { pathname } = new URL(url);
    if (/embed/i.test(pathname)) return Response.json(embedded());
    if (/count|input_tokens/i.test(pathname))
      return Response.json({ input_tokens: counted, totalTokens: counted });
    return Response.json(ANSWERS[pathname.split('/')[1] ?? ''] ?? {});
  },
});

const price = { input: 1, output: 1 };
const gateway = await startGateway({
  keys: [
    {
      name: 'test',
      key: 'sk-test',
      budgets: [{ usd: 1e6, per: 'month' }],
      limits: [{ tokens: 1e15, per: 'month' }],
    },
  ],
  providers: Object.fromEntries(
    PROTOCOLS.map((protocol) => [
      protocol,
      {
        api_key: 'sk-test-upstream',
        protocols: { [protocol]: `http://127.0.0.1:${upstream.port}/${protocol}` },
      },
    ]),
  ),
  models: PROTOCOLS.map((protocol) => ({
    id: `${protocol}/a`,
    price,
    endpoints: [{ provider: protocol, model: 'a' }],
  })),
});
afterAll(async () => {
  await gateway.close();
  await upstream.stop(true);
});

test.each(PROTOCOLS)('counts of %s are clamped when they are read, with a report', async (protocol) => {
  const body = { model: `${protocol}/a`, messages: [{ role: 'user', content: 'a' }] };
  const answer = await gateway.post('/chat/completions', body);
  expect(answer.status).toBe(200);
  await answer.text();
  const id = answer.headers.get('x-request-id') ?? '';
  const record = (await (await gateway.get(`/generation?id=${id}`)).json()) as Record<string, unknown>;
  expect(record['native_tokens']).toMatchObject({ prompt_tokens: MOST, completion_tokens: 1 });
  expect(JSON.stringify(record['native_tokens'])).toContain(`"said":1e+300,"counted":${MOST}`);
  expect(record['usage']).toBe(1000.000001);
  expect(answer.headers.get('x-dragoman-report')).toContain(':clamped');
});

const COUNTS: readonly (readonly [protocol: string, path: string, body: Record<string, unknown>])[] = [
  ['anthropic-messages', '/messages/count_tokens', { messages: [{ role: 'user', content: 'a' }] }],
  ['openai-responses', '/responses/input_tokens', { input: 'a' }],
  ['gemini', '/models/gemini/a:countTokens', { contents: [{ role: 'user', parts: [{ text: 'a' }] }] }],
];

test.each(COUNTS)('an unbelievable count of %s is an estimate', async (protocol, path, body) => {
  const ask = async (): Promise<[estimated: string | null, tokens: number]> => {
    const answer = await gateway.post(path, { model: `${protocol}/a`, ...body });
    const reported = (await answer.json()) as { input_tokens?: number; totalTokens?: number };
    return [answer.headers.get('x-dragoman-estimated'), reported.input_tokens ?? reported.totalTokens ?? 0];
  };
  for (counted of [HUGE, -5]) {
    const [estimated, tokens] = await ask();
    expect([estimated, tokens > 0 && tokens < 20]).toEqual(['true', true]);
  }
  counted = 7;
  expect(await ask()).toEqual([null, 7]);
});

test.each(['openai-chat', 'gemini'])(
  'counts of embeddings of %s are clamped, with a report',
  async (protocol) => {
    const ask = async (): Promise<Record<string, unknown>> => {
      const answer = await gateway.post('/embeddings', { model: `${protocol}/a`, input: 'a' });
      expect(answer.status).toBe(200);
      await answer.text();
      const id = answer.headers.get('x-request-id') ?? '';
      return (await (await gateway.get(`/generation?id=${id}`)).json()) as Record<string, unknown>;
    };
    counted = HUGE;
    const record = await ask();
    expect(record['native_tokens']).toMatchObject({ prompt_tokens: MOST });
    expect(JSON.stringify(record['native_tokens'])).toContain(`"said":1e+300,"counted":${MOST}`);
    expect(record['usage']).toBe(1000);
    // A negative one would give money back.
    counted = -1e9;
    expect((await ask())['usage']).toBe(0);
  },
);
