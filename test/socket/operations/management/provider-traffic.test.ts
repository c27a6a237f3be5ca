// Providers that were asked before this process began: none of them has no traffic, however its attempts ended.
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sampleRecord } from '../../../../bench/sample-records.ts';
import type { AttemptRecord } from '../../../../src/accounts/ledger/index.ts';
import { newGenerationId } from '../../../../src/base/runtime/ids.ts';
import type { ErrorKind } from '../../../../src/canonical/index.ts';
import { openSqliteStorage } from '../../../../src/storage/sqlite/storage.ts';
import { startManaged } from '../../../support/management/scene.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** More than are read of one provider. */
const MANY = 1_500;

interface Tried {
  readonly provider: string;
  /** Name of the model at the provider. */
  readonly model?: string;
  /** Null: a whole answer. */
  readonly failure: ErrorKind | 'cancelled' | null;
}

const dataDir = mkdtempSync(join(tmpdir(), 'dragoman-traffic-'));
const storage = await openSqliteStorage({ path: join(dataDir, 'dragoman.db'), later: () => {} });
const now = Date.now();
/** Appends a request with its attempts, the last of which decides. */
const append = (agoMs: number, tried: readonly Tried[]): void => {
  const createdAt = now - agoMs;
  const id = newGenerationId(createdAt);
  const { generation, attempts } = sampleRecord(id, createdAt, 1);
  const attempt = attempts[0] as AttemptRecord;
  const { provider = '', failure = null } = tried.at(-1) ?? {};
  const isCancelled = failure === 'cancelled';
  const errorOf = (kind: Tried['failure']) =>
    kind === null || kind === 'cancelled' ? null : { kind, message: 'No.', upstreamStatus: 503 };
  storage.ledger.append(
    {
      ...generation,
      provider,
      endpoint: provider,
      model: `acme/${provider}`,
      error: errorOf(failure),
      cancelled: isCancelled,
      attempts: tried.length,
    },
    tried.map((each, ordinal) => ({
      ...attempt,
      id: `${id}-${ordinal}`,
      ordinal,
      provider: each.provider,
      endpoint: each.provider,
      model: each.model ?? 'm',
      status: each.failure === null ? 200 : 503,
      outcome: each.failure === null ? 'completed' : each.failure === 'cancelled' ? 'cancelled' : 'failed',
      error: errorOf(each.failure),
    })),
  );
};
for (let time = 0; time < 6; time += 1) {
  append(20 * HOUR_MS, [{ provider: 'failed', failure: 'upstream_unavailable' }]);
  append(20 * HOUR_MS, [{ provider: 'limited', failure: 'rate_limited' }]);
  append(20 * HOUR_MS, [{ provider: 'old', failure: null }]);
  append(20 * HOUR_MS, [{ provider: 'strict', failure: 'invalid_request' }]);
  append(20 * HOUR_MS, [{ provider: 'left', failure: 'cancelled' }]);
  append(20 * HOUR_MS, [{ provider: 'renamed', model: 'm-of-before', failure: null }]);
  append(20 * HOUR_MS, [
    { provider: 'stood-aside', failure: 'upstream_unavailable' },
    { provider: 'busy', failure: null },
  ]);
  append(30 * HOUR_MS, [{ provider: 'forgotten', failure: null }]);
}
for (let time = 0; time < MANY; time += 1) append(HOUR_MS + time, [{ provider: 'busy', failure: null }]);
await storage.ledger.findOfAnybody('none');
while (await storage.usage.maintain(now));
await storage.close();
const names = [
  'failed',
  'limited',
  'old',
  'left',
  'strict',
  'renamed',
  'stood-aside',
  'busy',
  'forgotten',
  'never',
];
const at = { protocols: { 'openai-chat': 'http://127.0.0.1:9/v1' }, api_key: 'sk-test-upstream' };
const gateway = await startManaged(
  {
    providers: Object.fromEntries(names.map((name) => [name, at])),
    models: names.map((name) => ({ id: `acme/${name}`, endpoints: [{ provider: name, model: 'm' }] })),
  },
  { dataDir },
);
const { body } = await gateway.manage('GET', '/providers?limit=100');
const found = new Map((body['data'] as Record<string, unknown>[]).map((each) => [String(each['id']), each]));
afterAll(() => gateway?.close());

test.each([
  ['only failed', 'failed', 'failing'],
  ['was only tried before another one answered', 'stood-aside', 'failing'],
  ['only met rate limits', 'limited', 'healthy'],
  ['was asked 20 hours ago, behind many newer requests', 'old', 'healthy'],
  ['had only requests whose clients disconnected', 'left', 'healthy'],
  ['was asked at an endpoint that is configured no more', 'renamed', 'healthy'],
  ['answers all', 'busy', 'healthy'],
])('a provider that %s is not shown without traffic', (_, id, state) => {
  expect(found.get(id)).toMatchObject({ state, day: { attempts: id === 'busy' ? MANY + 6 : 6 } });
});

test('a provider that failed 20 hours ago shows the time', () => {
  const { as_of: asOf, problem } = found.get('failed') as { as_of: string; problem: { text: string } };
  expect(Math.abs(Date.now() - 20 * HOUR_MS - Date.parse(asOf))).toBeLessThan(5 * MINUTE_MS);
  expect(problem.text).toBe('503 unavailable');
});

test('a provider that refused wrong requests is healthy, and all its attempts were successful', () => {
  expect(found.get('strict')).toMatchObject({
    state: 'healthy',
    day: { attempts: 6, failed_attempts: 0, good_share: 1 },
  });
});

test.each(['forgotten', 'never'])('a provider without an attempt in 24 hours has no traffic: %s', (id) => {
  expect(found.get(id)).toMatchObject({ state: 'no_traffic', day: { attempts: 0 } });
});
