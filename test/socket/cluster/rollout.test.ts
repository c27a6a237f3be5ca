// A budget that reaches the replicas of one installation one after another, as in a rollout: what the others spend meanwhile,
// without a limit and therefore without a report, counts once they have it too.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../../support/harness.ts';
import { eventually } from '../../support/program.ts';
import { freshPostgres, POSTGRES_PROGRAMS } from '../../support/servers/postgres.ts';
import { startValkey, VALKEY_PROGRAM, type ValkeyProcess } from '../../support/servers/valkey.ts';

const KEY = 'sk-test-rollout';
const ADMIN_KEY = 'sk-test-admin-0123456789';

describe.skipIf(POSTGRES_PROGRAMS === null || VALKEY_PROGRAM === null)('replicas in a rollout', () => {
  let valkey: ValkeyProcess;
  let shared: Readonly<Record<string, unknown>>;

  beforeAll(async () => {
    valkey = await startValkey();
    shared = {
      database_url: await freshPostgres(),
      redis_url: valkey.url,
      secret: 'ab'.repeat(32),
      server: { admin_key: ADMIN_KEY },
      // A cent for each token of an answer.
      models: [
        {
          id: 'sim/chat',
          endpoints: [{ provider: 'sim', model: 'chat', price: { input: 0, output: 10_000 } }],
        },
      ],
    };
  });
  afterAll(() => valkey.stop());

  const start = (key: Readonly<Record<string, unknown>>): Promise<TestGateway> =>
    startGateway({ ...shared, keys: [{ name: 'ci', key: KEY, ...key }] });

  /** @returns status of a request for so many tokens */
  async function ask(gateway: TestGateway, max_tokens: number): Promise<number> {
    const messages = [{ role: 'user', content: 'count to 100' }];
    const answer = await gateway.post(
      '/chat/completions',
      { model: 'sim/chat', max_tokens, messages },
      { authorization: `Bearer ${KEY}` },
    );
    await answer.text();
    return answer.status;
  }

  async function restoredBy(gateway: TestGateway): Promise<boolean> {
    const headers = { authorization: `Bearer ${ADMIN_KEY}` };
    const metrics = await (await fetch(`${gateway.origin}/metrics`, { headers })).text();
    return !/^dragoman_counters_restored_total(?:\{.*\})? 0$/m.test(metrics);
  }

  test('count what those spent that did not have the budget yet', async () => {
    const budget = { budgets: [{ usd: 1, per: 'day' }] };
    await using early = await start(budget);
    await using late = await start({});
    expect(await ask(early, 1)).toBe(200);
    await eventually('the counter is known', () => restoredBy(early));
    // Ninety cents that nobody limits, and nobody reports.
    expect(await ask(late, 90)).toBe(200);
    await late.close();
    await using next = await start(budget);
    expect(await ask(next, 1)).toBe(200);
    await eventually('the replica has compared the counter with the ledger', () => restoredBy(next));
    expect(await ask(early, 50)).toBe(402);
    expect(await ask(next, 50)).toBe(402);
    expect(await ask(early, 5)).toBe(200);
  });
});
