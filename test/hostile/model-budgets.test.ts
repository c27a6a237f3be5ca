// A budget for one model, and every door and name by which a client may ask for that model once the money is spent.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway, type TestGateway } from '../support/harness.ts';

const messages = [{ role: 'user', content: 'a' }];
const usage = { prompt_tokens: 100, completion_tokens: 100, total_tokens: 200 };
const upstream = Bun.serve({
  port: 0,
  fetch: ({ url }) =>
    Response.json(
      url.endsWith('/embeddings')
        ? {
            object: 'list',
            model: 'a',
            data: [{ object: 'embedding', index: 0, embedding: [1] }],
            usage: { prompt_tokens: 1, total_tokens: 1 },
          }
        : {
            id: 'c',
            object: 'chat.completion',
            created: 1,
            model: 'a',
            choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }],
            usage,
          },
    ),
});
/** A dollar for each token: one answer spends more than the budget, and is expected to cost less. */
const price = { input: 1_000_000, output: 1_000_000 };
const BUDGET = { usd: 150, per: 'month' };
const config = {
  keys: [
    { name: 'real', key: 'sk-test-real', budgets: [{ ...BUDGET, models: ['up/a'] }] },
    { name: 'alias', key: 'sk-test-alias', budgets: [{ ...BUDGET, models: ['nice/name'] }] },
    { name: 'pattern', key: 'sk-test-pattern', budgets: [{ ...BUDGET, models: ['nice/*'] }] },
  ],
  providers: {
    up: { api_key: 'none', protocols: { 'openai-chat': `http://127.0.0.1:${upstream.port}/v1` } },
  },
  aliases: { short: 'nice/name' },
  models: [
    { id: 'nice/name', price, endpoints: [{ provider: 'up', model: 'a' }] },
    { id: 'up/a', price, endpoints: [{ provider: 'up', model: 'a' }] },
    { id: 'up/other', price: { input: 0, output: 0 }, endpoints: [{ provider: 'up', model: 'other' }] },
  ],
};
const KEYS = ['sk-test-real', 'sk-test-alias', 'sk-test-pattern'] as const;
const dataDir = mkdtempSync(join(tmpdir(), 'dragoman-budgets-'));
let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway(config, { dataDir });
});
afterAll(async () => {
  await gateway.close();
  await upstream.stop(true);
  rmSync(dataDir, { recursive: true, force: true });
});

async function ask(key: string, path: string, body: object): Promise<number> {
  const answer = await gateway.post(path, body, { authorization: `Bearer ${key}`, 'x-goog-api-key': key });
  await answer.text();
  return answer.status;
}

/** True when it was refused because of a budget. Google has no status of its own for that. */
async function isRefused(key: string, path: string, body: object): Promise<boolean> {
  return (await ask(key, path, body)) === (path.includes(':generate') ? 429 : 402);
}

const contents = [{ role: 'user', parts: [{ text: 'a' }] }];
/** Every way to ask for the model. */
const DOORS: readonly (readonly [path: string, body: Record<string, unknown>])[] = [
  ...['up/a', 'nice/name', 'short', 'UP/A', 'nice/name:up', 'up/a:free', 'up//a', 'up/a?x'].map(
    (model) => ['/chat/completions', { model, messages }] as const,
  ),
  ['/chat/completions', { model: 'up/a', models: ['nice/name', 'short'], messages }],
  ['/chat/completions', { model: 'up/a', messages, stream: true }],
  ['/chat/completions', { model: 'nice/name', messages, provider: { only: ['up'] } }],
  ['/responses', { model: 'short', input: 'a' }],
  ['/responses/compact', { model: 'nice/name', input: 'a' }],
  ['/messages', { model: 'nice/name', messages, max_tokens: 1 }],
  ['/models/nice%2Fname:generateContent', { contents }],
  ['/models/up/a:generateContent', { contents }],
  ['/embeddings', { model: 'nice/name', input: 'a' }],
];

test.each(KEYS)('a spent budget of %s refuses the model by every name', async (key) => {
  expect(await ask(key, '/chat/completions', { model: 'up/a', messages, max_tokens: 1 })).toBe(200);
  expect(await ask(key, '/chat/completions', { model: 'nice/name', messages, max_tokens: 1 })).toBe(402);
  for (const [path, body] of DOORS)
    expect([path, body['model'], await isRefused(key, path, body)]).toEqual([path, body['model'], true]);
  // A free model, and another one.
  expect(await ask(key, '/chat/completions', { model: 'up/other', messages })).toBe(200);
});

test('a spent budget refuses the model by every name after a restart, which reads it from the records', async () => {
  await gateway.stop();
  gateway = await startGateway(config, { dataDir });
  for (const key of KEYS)
    for (const [path, body] of DOORS)
      expect([key, path, body['model'], await isRefused(key, path, body)]).toEqual([
        key,
        path,
        body['model'],
        true,
      ]);
});
