// Three gateways that share limits through one server, with many clients at once: no limit is exceeded, whatever happens
// to the server, and what is left of it is used.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../../support/harness.ts';
import { Received, listenAt } from '../../support/management/listen.ts';
import { startValkey, VALKEY_PROGRAM, type ValkeyProcess } from '../../support/servers/valkey.ts';
import { eventually } from '../../support/program.ts';

const GATEWAYS = 3;
const CLIENTS = 64;
const RATE = 40;
const ADMIN_KEY = 'sk-test-admin-0123456789';

const PROJECTS = {
  budget: { budgets: [{ usd: 1, per: 'day' }] },
  rate: { limits: [{ requests: RATE, per: 'second' }] },
  flushed: { budgets: [{ usd: 1, per: 'day' }] },
  stopped: { limits: [{ requests: 90, per: 'hour' }] },
  watched: {},
};

interface Answer {
  readonly status: number;
  readonly usd: number;
  /** When it was asked and answered, in milliseconds. */
  readonly startMs: number;
  readonly endMs: number;
  readonly gateway: number;
}

describe.skipIf(VALKEY_PROGRAM === null)('gateways that share limits', () => {
  let servers: readonly ValkeyProcess[];
  /** Gateways that refuse where an answer of the server comes late: their spend is exact on any machine. */
  let strict: readonly TestGateway[];
  /** Gateways that go on with their share then, as by default. */
  let gateways: readonly TestGateway[];

  beforeAll(async () => {
    servers = [await startValkey(), await startValkey()];
    const startAll = (at: number, whenUnreachable: string): Promise<readonly TestGateway[]> => {
      const counters = { when_unreachable: whenUnreachable };
      const config = { ...shared, redis_url: servers[at]?.url, counters };
      return Promise.all(Array.from({ length: GATEWAYS }, () => startGateway(config)));
    };
    const shared = {
      secret: 'ab'.repeat(32),
      logging: { level: 'info' },
      server: { admin_key: ADMIN_KEY },
      keys: Object.keys(PROJECTS).map((name) => ({ name, key: `sk-test-${name}`, project: name })),
      projects: PROJECTS,
      // Two cents an answer.
      models: [
        {
          id: 'sim/chat',
          endpoints: [{ provider: 'sim', model: 'chat', price: { input: 10, output: 1000 } }],
        },
      ],
    };
    strict = await startAll(0, 'refuse');
    gateways = await startAll(1, 'local');
  });
  afterAll(async () => {
    await Promise.all([...strict, ...gateways].map((gateway) => gateway.close()));
    for (const server of servers) await server.stop();
  });

  async function ask(of: readonly TestGateway[], key: string, gateway: number): Promise<Answer> {
    const body = {
      model: 'sim/chat',
      max_tokens: 20,
      messages: [{ role: 'user', content: 'Hello' }],
      usage: { include: true },
    };
    const asked = of[gateway];
    if (!asked) throw new Error('no such gateway');
    const startMs = performance.now();
    const response = await asked.post('/chat/completions', body, {
      authorization: `Bearer sk-test-${key}`,
    });
    const { usage } = (await response.json()) as { usage?: { cost?: number } };
    return { status: response.status, usd: usage?.cost ?? 0, startMs, endMs: performance.now(), gateway };
  }

  /** So many clients, each with so many requests one after the other, over all of these gateways. */
  async function load(of: readonly TestGateway[], key: string, requests: number): Promise<readonly Answer[]> {
    const client = async (number: number): Promise<readonly Answer[]> => {
      const answers: Answer[] = [];
      for (let at = 0; at < requests; at += 1) answers.push(await ask(of, key, (number + at) % GATEWAYS));
      return answers;
    };
    return (await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)))).flat();
  }

  /** Parts that the gateways report as holding less than they should. */
  async function degraded(): Promise<readonly string[]> {
    const said = gateways.map(async ({ origin }) => {
      const ready = (await (await fetch(`${origin}/readyz`)).json()) as { degraded: string[] };
      return ready.degraded;
    });
    return (await Promise.all(said)).flat();
  }

  const good = (answers: readonly Answer[]): readonly Answer[] =>
    answers.filter(({ status }) => status === 200);
  const cost = (answers: readonly Answer[]): number => answers.reduce((sum, { usd }) => sum + usd, 0);

  test('together spend nearly all of a budget, and never more', async () => {
    const answers: Answer[] = [];
    // Money that a request reserved and did not cost comes back when it ends.
    for (let times = 0; times < 40 && cost(answers) < 0.9; times += 1)
      answers.push(...(await load(strict, 'budget', 1)));
    expect(cost(answers)).toBeLessThanOrEqual(1);
    expect(cost(answers)).toBeGreaterThanOrEqual(0.9);
    expect(answers.map(({ status }) => status)).toContain(402);
  });

  test('admit exactly what a rate allows in any second', async () => {
    const answers: Answer[] = [];
    for (let times = 0; times < 40 && answers.length < RATE - 1; times += 1)
      answers.push(...good(await load(strict, 'rate', 4)));
    // All that was asked and answered within a time was let through in it, however late the answer was read.
    for (const { startMs } of answers)
      for (const { endMs } of answers) {
        const within = answers.filter((one) => one.startMs >= startMs && one.endMs <= endMs);
        expect(within.length).toBeLessThanOrEqual(RATE + 1 + (RATE * Math.max(0, endMs - startMs)) / 1000);
      }
    expect(answers.length).toBeGreaterThanOrEqual(RATE - 1);
  });

  test('report the events of all to a client that watches one', async () => {
    const [first] = gateways;
    const received = new Received(await listenAt(first?.origin ?? '', ADMIN_KEY, '?types=generation'));
    for (const gateway of gateways) {
      const asked: (string | null)[] = [];
      // The others hear a moment later that somebody watches.
      await eventually('the gateways notice', async () => {
        const answer = await gateway.post(
          '/chat/completions',
          { model: 'sim/chat', messages: [{ role: 'user', content: 'Hello' }] },
          { authorization: 'Bearer sk-test-watched' },
        );
        asked.push(answer.headers.get('x-request-id'));
        return asked.some((id) => received.ids.has(id));
      });
    }
    await received.leave();
  });

  test('overspend nothing and still use a budget when the server loses all its data under load', async () => {
    const loading = load(strict, 'flushed', 4);
    await servers[0]?.send('FLUSHALL');
    // Requests wait until every process has reported again. On a busy machine, some are refused because the server is late.
    const answers = [...(await loading)];
    for (let times = 0; times < 40 && cost(answers) <= 0.5; times += 1)
      answers.push(...(await load(strict, 'flushed', 1)));
    expect(cost(answers)).toBeGreaterThan(0.5);
    answers.push(...(await load(strict, 'flushed', 1)));
    expect(cost(answers)).toBeLessThanOrEqual(1 + 1e-9);
  });

  test('go on with their share while the server hangs, and share again when it answers', async () => {
    const pid = servers[1]?.pid ?? 0;
    process.kill(pid, 'SIGSTOP');
    await eventually('the gateways notice', async () => (await degraded()).length === GATEWAYS);
    // Thirty each, of ninety; more where a process was last known to have been silent for too long.
    const shares = (await degraded()).map((said) => 90 / Number(/1\/(\d) of each limit/.exec(said)?.[1]));
    const alone = await load(gateways, 'stopped', 3);
    process.kill(pid, 'SIGCONT');
    // The test would have no time if each of them waited for a server that does not answer.
    expect(good(alone).length).toBe(shares.reduce((sum, share) => sum + share));
    await eventually('the gateways notice', async () => (await degraded()).length === 0);
    // Each tells what it has used when it can; then nobody has any more.
    await eventually(
      'the gateways notice',
      async () => good(await load(gateways, 'stopped', 1)).length === 0,
    );
  });
});
