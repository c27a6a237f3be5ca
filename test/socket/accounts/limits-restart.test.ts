// After a restart budgets and daily limits go on where they were: what the ledger knows is spent, and nothing of it twice.
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Limits, RestoredLimits, type LimitEntry, type Written } from '../../../src/accounts/limits/index.ts';
import { LedgerOfTests } from '../../support/limits-ledger.ts';
import { startGateway, type TestGateway } from '../../support/harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const NOON = Date.UTC(2026, 10, 22, 12);
const folder = mkdtempSync(join(tmpdir(), 'dragoman-limits-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const BODY = { model: 'sim/chat', messages: [{ role: 'user', content: 'write 50 words' }] };
const KEYS = [
  { name: 'poor', key: 'sk-test-poor', project: 'team', budgets: [{ usd: 0.004, per: 'day' }] },
  { name: 'few', key: 'sk-test-few', limits: [{ requests: 3, per: 'day' }] },
];

function start(clock: ManualClock): Promise<TestGateway> {
  const projects = { team: { budgets: [{ usd: 1, per: 'month' }] } };
  return startGateway(
    { keys: KEYS, projects, routing: { retries: 0 } },
    { clock, dataDir: join(folder, 'data') },
  );
}

/** @returns the status */
async function ask(gateway: TestGateway, name: string, more: object = {}): Promise<number> {
  const answer = await gateway.post(
    '/chat/completions',
    { ...BODY, ...more },
    {
      authorization: `Bearer sk-test-${name}`,
    },
  );
  await answer.text();
  return answer.status;
}

test('a restarted gateway counts earlier usage, and does not count refused requests', async () => {
  const clock = new ManualClock(NOON);
  let gateway = await start(clock);
  expect(await ask(gateway, 'few')).toBe(200);
  expect(await ask(gateway, 'few', { model: 'sim/error-500' })).toBe(500);
  expect(await ask(gateway, 'few')).toBe(200);
  let asked = 0;
  while ((await ask(gateway, 'poor', { max_tokens: 400 })) === 200) asked += 1;
  expect(asked).toBeGreaterThan(2);
  await gateway.stop();

  gateway = await start(clock);
  expect(await ask(gateway, 'poor', { max_tokens: 400 })).toBe(402);
  expect(await ask(gateway, 'few')).toBe(200);
  expect(await ask(gateway, 'few')).toBe(429);
  clock.advance(12 * 3_600_000);
  expect(await ask(gateway, 'poor', { max_tokens: 400 })).toBe(200);
  expect(await ask(gateway, 'few')).toBe(200);
  await gateway.close();
});

describe('limits that are new', () => {
  const DAILY: LimitEntry = { usd: 1, per: 'day' };
  const ever: LimitEntry = { usd: 9 };

  test('begin with the usage in the ledger, and existing limits keep theirs', async () => {
    let written: Written[] = [{ owner: { kind: 'key', id: 'ci', name: 'ci' }, entries: [DAILY] }];
    const ledger = new LedgerOfTests();
    const limits = new Limits(
      { entriesOf: () => [], limitsProviders: () => false, all: () => written },
      () => NOON,
    );
    const restored = new RestoredLimits({ limits, ledger, now: () => NOON });
    const used = (): number[] => limits.limitUsages(limits.written()).map((standing) => standing.used);
    const spent = (nanoUsd: number): void => {
      const scopes = limits.scopes(limits.written());
      ledger.entries.push({
        scopes,
        model: 'm',
        admittedAt: NOON - 1,
        endUser: null,
        requests: 1,
        tokens: 1,
        nanoUsd,
      });
    };
    spent(5);
    await restored.catchUp();
    expect(used()).toEqual([5]);
    spent(3);
    written = written.map(({ owner }) => ({ owner, entries: [DAILY, ever] }));
    limits.refresh();
    await Promise.all([restored.catchUp(), restored.catchUp()]);
    // The daily limit's own count is not here: it was not asked for again.
    expect(used()).toEqual([5, 8]);
  });
});
