// Many clients at once on limits that are too small for all of them: what gets through, to the request and to the cent.
import { afterAll, describe, expect, test } from 'bun:test';
import { startGateway } from '../../support/harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { eventually } from '../../support/program.ts';
import { recordOf } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at } from '../../support/upstreams/json-path.ts';

const CLIENTS = 64;
const NOON = Date.UTC(2026, 10, 22, 12);
const KEYS = {
  dollar: { budgets: [{ usd: 1, per: 'day' }] },
  second: { limits: [{ requests: 7, per: 'second' }] },
  concurrent: { limits: [{ concurrent: 5 }] },
  users: { limits: [{ requests: 2, per: 'hour', each: 'end_user' }] },
  full: { project: 'full' },
  other: { project: 'other' },
};

const clock = new ManualClock(NOON);
const gateway = await startGateway(
  {
    keys: Object.entries(KEYS).map(([name, more]) => ({ name, key: `sk-test-${name}`, ...more })),
    projects: { full: { limits: [{ requests: 1, per: 'day' }] }, other: {} },
    // A dollar is soon spent at a hundred times the usual price.
    models: [
      {
        id: 'dear',
        max_output_tokens: 8000,
        endpoints: [
          {
            provider: 'sim',
            model: 'paced-1',
            protocol: 'openai-chat',
            price: { input: 100, output: 400 },
          },
        ],
      },
    ],
  },
  { clock },
);
afterAll(() => gateway.close());

function ask(key: keyof typeof KEYS, more: object = {}): Promise<Response> {
  const body = { model: 'sim/echo', messages: [{ role: 'user', content: 'Hi' }], ...more };
  return gateway.post('/chat/completions', body, { authorization: `Bearer sk-test-${key}` });
}

function crowd<T>(run: (client: number) => Promise<T>, clients = CLIENTS): Promise<T[]> {
  return Promise.all(Array.from({ length: clients }, (_, client) => run(client)));
}

describe('64 clients', () => {
  test('with streams on a budget of a dollar a day exceed it by at most one step for each running stream', async () => {
    const asKey = {
      ...gateway,
      get: (path: string) =>
        fetch(gateway.baseURL + path, { headers: { authorization: 'Bearer sk-test-dollar' } }),
    };
    interface Asked {
      readonly response: Response;
      readonly text: string;
    }
    const askUntilRefused = async (): Promise<Asked[]> => {
      const asked: Asked[] = [];
      for (;;) {
        const response = await ask('dollar', {
          model: 'dear',
          stream: true,
          messages: [{ role: 'user', content: 'write 40 words' }],
        });
        asked.push({ response, text: await response.text() });
        if (response.status !== 200) return asked;
      }
    };
    const crowded = (await crowd(askUntilRefused)).flat();
    // Amounts that running answers had reserved are free now.
    const alone = await askUntilRefused();
    const all = [...crowded, ...alone];
    const begun = all.filter(({ response }) => response.status === 200);
    const records = await Promise.all(begun.map(({ response }) => recordOf(asKey, response)));
    let spent = 0;
    for (const record of records) spent += Number(at(record, 'usage'));
    const stopped = begun.filter(({ text }) => text.includes('"budget_exceeded"')).length;
    // A read of a paced stream has a few words: twenty tokens are more than any of them.
    expect(spent).toBeGreaterThan(0.9);
    expect(spent).toBeLessThan(1 + stopped * 20 * 400e-6);
    expect(begun.length).toBeGreaterThan(CLIENTS / 2);
    const refused = all.filter(({ response }) => response.status !== 200);
    for (const { response, text } of refused) {
      expect(response.status).toBe(402);
      expect(text).toContain('$1.00 per day (the limit of key');
    }
    const last = alone.at(-1);
    expect(last?.response.headers.get('retry-after')).toBe(String(12 * 3600));
    expect(last?.text).toContain('Capacity is available at 2026-11-23T00:00:00.000Z');
  });

  test('are admitted at the configured rate, without a second burst at the edge of a window', async () => {
    const accepted: number[] = [];
    for (let round = 0; round < 12; round += 1) {
      // Behind the first round so few that none has to wait for its refusal.
      const answers = await (round === 0 ? crowd(() => ask('second')) : crowd(() => ask('second'), 16));
      for (const { status } of answers) if (status === 200) accepted.push(clock.now());
      clock.advance(250);
    }
    // Three seconds, at the beginning of each seven; nothing in between.
    expect(accepted.map((ms) => ms - (accepted[0] ?? 0))).toEqual(
      [0, 1000, 2000].flatMap((ms) => Array.from({ length: 7 }, () => ms)),
    );
  });

  test('never exceed the limit of concurrent requests', async () => {
    // Streams that last until their clients leave: on any machine, the last request comes while the first one runs.
    const answers = await crowd(() =>
      ask('concurrent', {
        model: 'sim/paced-100',
        stream: true,
        messages: [{ role: 'user', content: 'write 2000 words' }],
      }),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
    for (const { body } of answers) await body?.cancel();
    await eventually('a place is free', async () => (await ask('concurrent')).status === 200);
  });

  test('that invent end users get no extra budget, and those that name none share one', async () => {
    const statuses = await crowd(async (client) => (await ask('users', { user: `u${client % 8}` })).status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(16);
    // Time enough for as many refusals at once again.
    clock.advance(2000);
    const nobody = await crowd(async () => (await ask('users')).status);
    expect(nobody.filter((status) => status === 200)).toHaveLength(2);
  });

  test('of a project at its limit do not affect another project', async () => {
    const statuses = await crowd(async (client) => (await ask(client % 2 === 0 ? 'full' : 'other')).status);
    expect(statuses.filter((_, client) => client % 2 === 1).every((status) => status === 200)).toBe(true);
    expect(statuses.filter((_, client) => client % 2 === 0).filter((status) => status === 200)).toHaveLength(
      1,
    );
  });
});
