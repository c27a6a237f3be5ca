// Counters, ledger and usage agree, to the nano-dollar, whatever became of requests: answered, failed, replayed, left,
// completed by others, streamed or not, in any protocol.
import { afterAll, expect, test } from 'bun:test';
import { startGateway } from '../../support/harness.ts';
import { eventually } from '../../support/program.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';

const ADMIN = 'sk-admin-test-0123456789';
const ROUNDS = 4;

const gateway = await startGateway({
  server: { admin_key: ADMIN },
  routing: { retries: 0 },
  limits: [{ concurrent: 500 }],
  projects: { all: { budgets: [{ usd: 100, per: 'month' }], limits: [{ tokens: 9e9, per: 'day' }] } },
  keys: [
    {
      name: 'test',
      key: 'sk-test',
      project: 'all',
      budgets: [
        { usd: 50, per: 'day' },
        { usd: 10, each: 'end_user' },
      ],
      limits: [
        { requests: 1e6, per: 'day' },
        { requests: 1e6, per: 'minute' },
      ],
    },
  ],
  models: [
    {
      id: 'mended',
      endpoints: ['cut-after-400', 'chat'].map((model) => ({
        provider: 'sim',
        model,
        protocol: 'openai-chat',
        name: model,
        price: { input: 1, output: 4 },
      })),
    },
  ],
});
afterAll(() => gateway.close());

const say = (content: string): { messages: object[] } => ({ messages: [{ role: 'user', content }] });
const whole = (model: string, more: object = {}): Promise<Response> =>
  gateway.post('/chat/completions', { model, ...say('write 30 words'), ...more });

/** Every way that a request can go. @param n tells those of one round from the others */
const WAYS: readonly ((n: number) => Promise<Response>)[] = [
  () => whole('sim/chat'),
  (n) => whole('sim/responses', { user: `user ${n}` }),
  () => whole('sim/chat', { stream: true }),
  () => whole('sim/gemini', { stream: true }),
  () => whole('sim/error-500'),
  () => whole('sim/error-429'),
  () => whole('sim/cut-after-40', { stream: true }),
  () => whole('sim/content-filter-mid', { stream: true }),
  () => whole('mended', { stream: true, provider: { stream_safety: 'continue' } }),
  () => gateway.post('/messages', { model: 'sim/messages', max_tokens: 300, ...say('count to 30') }),
  () =>
    gateway.post('/messages', { model: 'sim/chat', max_tokens: 300, stream: true, ...say('count to 30') }),
  () => gateway.post('/responses', { model: 'sim/messages', input: 'count to 9', stream: true }),
  () => gateway.post('/embeddings', { model: 'sim/embed', input: ['one', 'two three'] }),
  () => gateway.post('/messages/count_tokens', { model: 'sim/messages', ...say('count me') }),
  (n) =>
    gateway.post(
      '/chat/completions',
      { model: 'sim/chat', ...say('once') },
      { 'idempotency-key': `once-${n}` },
    ),
  (n) =>
    gateway.post(
      '/chat/completions',
      { model: 'sim/chat', ...say('once') },
      { 'idempotency-key': `once-${n}` },
    ),
  () => gateway.post('/chat/completions', { model: 'sim/chat', messages: 'none' }),
];

/** A client that goes away in the middle of its answer. */
async function leave(): Promise<void> {
  const leaving = new AbortController();
  const response = await fetch(`${gateway.baseURL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sim/paced-5', stream: true, ...say('write 200 words') }),
    signal: leaving.signal,
  });
  await response.body?.getReader().read();
  leaving.abort();
}

async function managed(path: string): Promise<Json> {
  const answer = await fetch(`${gateway.baseURL}/management${path}`, {
    headers: { authorization: `Bearer ${ADMIN}` },
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Json;
}

test('after requests of all kinds nothing is reserved, and the usage of limits equals that of the records', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    await Promise.all([
      ...WAYS.map(async (way) => {
        await (await way(round)).text();
      }),
      leave(),
    ]);
  }
  const standings = async (): Promise<readonly Json[]> =>
    list(await managed('/limits'), 'data').flatMap((owner) => list(owner, 'limits'));
  await eventually('nothing runs', async () =>
    (await standings()).every((standing) => at(standing, 'reserved') === 0),
  );
  const page = await managed('/generations?limit=100');
  expect(at(page, 'has_more')).toBe(false);
  const records = list(page, 'data');
  let usd = 0;
  let tokens = 0;
  let requests = 0;
  for (const record of records) {
    const own = Number(at(record, 'native_tokens', 'total_tokens') ?? 0);
    usd += Number(at(record, 'usage') ?? 0);
    tokens += own;
    if (own > 0 || at(record, 'error') === null) requests += 1;
  }
  expect(usd).toBeGreaterThan(0);
  // One that failed for nothing in every round; one replay has no record.
  expect(records.length).toBeGreaterThan(requests);
  const shown = (await standings()).map((each) => [at(each, 'text'), at(each, 'used')]);
  const nano = (value: unknown): number => Math.round(Number(value) * 1e9);
  expect(shown.map(([text, value]) => [text, String(text).startsWith('$') ? nano(value) : value])).toEqual([
    ['500 concurrent requests', 0],
    ['9000000000 tokens per day', tokens],
    ['$100.00 per month', nano(usd)],
    ['1000000 requests per day', requests],
    ['1000000 requests per minute', requests],
    ['$50.00 per day', nano(usd)],
  ]);
  const usage = await managed('/usage?group_by=project');
  expect(at(list(usage, 'data')[0], 'nano_usd')).toBe(nano(usd));
});
