// Alerts as their receivers get them: signed, once for each event, again where they were not taken, and never in a
// request's way.
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Alert, Watch } from '../../../src/operations/alerts/index.ts';
import { Limits } from '../../../src/accounts/limits/index.ts';
import { MemoryRoutingState } from '../../../src/engine/routing/index.ts';
import { startGateway, type TestGateway } from '../../support/harness.ts';
import { ADMIN_KEY } from '../../support/management/scene.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { eventually } from '../../support/program.ts';
import { finishedRequest } from '../../support/finished-request.ts';
import {
  type ReceivedAlert,
  receiveWebhooks,
  WEBHOOK_SECRET,
  type WebhookReceiver,
} from '../../support/webhook-receiver.ts';
import { undoAfterEach } from '../../support/undo.ts';

const DAY = 86_400_000;
const NOON = Date.UTC(2026, 10, 22, 12);
/** Each request costs ten cents. */
const MODELS = [
  {
    id: 'mine/echo',
    endpoints: [{ provider: 'sim', model: 'echo', price: { input: 0, output: 0, request: 0.1 } }],
  },
  { id: 'mine/bad', endpoints: [{ provider: 'sim', model: 'error-503' }] },
  { id: 'mine/locked', endpoints: [{ provider: 'sim', model: 'error-401' }] },
];

const undo = undoAfterEach();

interface Scene {
  readonly gateway: TestGateway;
  readonly clock: ManualClock;
  readonly receiver: WebhookReceiver;
  stop(): Promise<void>;
  /** Asks for one answer, and lets the gateway look at what came of it. @returns the status */
  ask(model: string): Promise<number>;
  /** Alerts that were received so far, once they are this many. */
  received(count: number): Promise<WebhookReceiver['received']>;
}

async function scene(config: object = {}, webhook: object = {}, dataDir?: string): Promise<Scene> {
  const receiver = receiveWebhooks();
  undo.push(() => receiver.stop());
  const clock = new ManualClock(NOON);
  const gateway = await startGateway(
    {
      models: MODELS,
      routing: { retries: 0 },
      logging: { level: 'debug' },
      alerts: { webhooks: [{ url: receiver.url, secret: WEBHOOK_SECRET, ...webhook }] },
      ...config,
    },
    { clock, ...(dataDir !== undefined && { dataDir }) },
  );
  let ended: Promise<void> | undefined;
  const stop = (): Promise<void> => (ended ??= dataDir === undefined ? gateway.close() : gateway.stop());
  undo.push(stop);
  return {
    gateway,
    clock,
    receiver,
    stop,
    async ask(model) {
      const answer = await gateway.post('/chat/completions', {
        model,
        messages: [{ role: 'user', content: 'hi' }],
      });
      await answer.text();
      clock.advance(1000);
      return answer.status;
    },
    async received(count) {
      // Known to be so on both sides: time goes on afterwards, and what is on its way has only so much of it.
      const outcomes = /webhook message (?:not )?delivered|could not be delivered/;
      await eventually(
        `${count} messages came`,
        () => gateway.logLines.filter((line) => outcomes.test(line)).length >= count,
      );
      return receiver.received;
    },
  };
}

/** As they were made: each is sent for itself. */
function inOrder(messages: readonly ReceivedAlert[]): readonly ReceivedAlert[] {
  return messages.toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
}

const KEYS = [{ name: 'test', key: 'sk-test', budgets: [{ usd: 1, per: 'day' }] }];

test('a budget is reported once each at 50 %, 80 % and 100 %', async () => {
  const { ask, received } = await scene({ keys: KEYS });
  const statuses: number[] = [];
  for (let count = 0; count < 12; count++) statuses.push(await ask('mine/echo'));
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 402, 402]);
  const messages = inOrder(await received(3));
  expect(messages.map(({ type, data }) => [type, data['threshold_percent'], data['spent_usd']])).toEqual([
    ['budget.threshold_reached', 50, 0.5],
    ['budget.threshold_reached', 80, 0.8],
    ['budget.threshold_reached', 100, 1],
  ]);
  expect(messages[0]?.data).toMatchObject({
    message: '50 % of the budget "$1.00 per day" of key "test" is spent',
    owner: { type: 'key', name: 'test' },
    budget_usd: 1,
  });
  expect(new Set(messages.map(({ id }) => id)).size).toBe(3);
});

test('a higher threshold of a budget resolves the lower ones, and not those of another budget', async () => {
  const { ask, received, gateway, clock } = await scene({
    keys: [{ ...KEYS[0], budgets: [...(KEYS[0]?.budgets ?? []), { usd: 1.5, per: 'month' }] }],
    server: { admin_key: ADMIN_KEY },
  });
  for (let count = 0; count < 10; count++) await ask('mine/echo');
  await received(4);
  const openOf = async (): Promise<unknown> => {
    const headers = { authorization: `Bearer ${ADMIN_KEY}` };
    const answer = await fetch(`${gateway.origin}/v1/management/alerts?state=open`, { headers });
    const { data } = (await answer.json()) as { readonly data: readonly { readonly message: string }[] };
    return data.map(({ message }) => message).toSorted();
  };
  const last = [
    '100 % of the budget "$1.00 per day" of key "test" is spent',
    '50 % of the budget "$1.50 per month" of key "test" is spent',
  ];
  await eventually('only the last of each is open', async () => {
    clock.advance(5_000);
    return JSON.stringify(await openOf()) === JSON.stringify(last);
  });
});

test('a budget whose remainder is too small for a request is reported as too low, not as spent', async () => {
  const { ask, received } = await scene({
    keys: [{ ...KEYS[0], budgets: [{ usd: 1.09, per: 'day' }] }],
  });
  while ((await ask('mine/echo')) === 200);
  const alerts = inOrder(await received(3));
  expect(alerts.map(({ data }) => [data['threshold_percent'], data['message']])).toEqual([
    [50, '50 % of the budget "$1.09 per day" of key "test" is spent'],
    [80, '80 % of the budget "$1.09 per day" of key "test" is spent'],
    [
      100,
      'the budget "$1.09 per day" of key "test" is too low: 91 % is spent, and the rest was not enough for a request',
    ],
  ]);
});

test('a budget is reported again in its next period', async () => {
  const { ask, received, clock } = await scene({ keys: KEYS });
  for (let count = 0; count < 5; count++) await ask('mine/echo');
  await received(1);
  clock.advance(DAY);
  for (let count = 0; count < 5; count++) await ask('mine/echo');
  const [first, second] = inOrder(await received(2));
  expect(
    [first, second].map((each) => [each?.data['threshold_percent'], each?.data['period_start']]),
  ).toEqual([
    [50, '2026-11-22T00:00:00.000Z'],
    [50, '2026-11-23T00:00:00.000Z'],
  ]);
});

test('a restart with the same data repeats no alert', async () => {
  const path = mkdtempSync(join(tmpdir(), 'dragoman-alerts-'));
  undo.push(() => rmSync(path, { recursive: true, force: true }));
  const first = await scene({}, {}, path);
  await first.ask('mine/locked');
  expect((await first.received(1)).map(({ type }) => type)).toEqual(['provider.key_refused']);
  await first.stop();
  const second = await scene({}, {}, path);
  await second.ask('mine/locked');
  for (let count = 0; count < 5; count++) await second.ask('mine/bad');
  expect((await second.received(1)).map(({ type }) => type)).toEqual(['endpoint.opened']);
});

test('an alert that is over is resolved, and stays in the list after a start', async () => {
  const path = mkdtempSync(join(tmpdir(), 'dragoman-alerts-'));
  undo.push(() => rmSync(path, { recursive: true, force: true }));
  let refuses = true;
  const upstream = Bun.serve({
    port: 0,
    fetch: () =>
      refuses
        ? Response.json({ error: { message: 'The key was revoked.' } }, { status: 401 })
        : Response.json({
            id: 'chatcmpl-1',
            object: 'chat.completion',
            created: 1,
            model: 'm',
            choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
            usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
          }),
  });
  undo.push(() => upstream.stop(true));
  const provider = {
    api_key: 'sk-test-of-the-lab',
    protocols: { 'openai-chat': { base_url: `${upstream.url.origin}/v1` } },
  };
  const config = {
    keys: KEYS,
    server: { admin_key: ADMIN_KEY },
    providers: { lab: provider },
    models: [...MODELS, { id: 'lab/m', endpoints: [{ provider: 'lab', price: { input: 0, output: 0 } }] }],
  };
  const first = await scene(config, {}, path);
  const alertsOf = async ({ gateway }: Scene, query = ''): Promise<readonly Record<string, unknown>[]> => {
    const headers = { authorization: `Bearer ${ADMIN_KEY}` };
    const answer = await fetch(`${gateway.origin}/v1/management/alerts${query}`, { headers });
    return ((await answer.json()) as { readonly data: readonly Record<string, unknown>[] }).data;
  };
  const typesOf = async (of: Scene, state: string): Promise<unknown> =>
    (await alertsOf(of, `?state=${state}`)).map(({ type }) => type).toSorted();
  await first.ask('lab/m');
  for (let count = 0; count < 5; count++) await first.ask('mine/echo');
  await first.received(2);
  const both = ['budget.threshold_reached', 'provider.key_refused'];
  await eventually('both are kept', async () => (await alertsOf(first)).length === 2);
  expect(await typesOf(first, 'open')).toEqual(both);
  first.clock.advance(30_000);
  expect(await typesOf(first, 'resolved')).toEqual([]);
  // The key is good again, and the next day has a budget of its own.
  refuses = false;
  first.clock.advance(DAY);
  expect(await first.ask('lab/m')).toBe(200);
  await eventually('both are over', async () => {
    first.clock.advance(5_000);
    return (await alertsOf(first, '?state=resolved')).length === 2;
  });
  const before = await alertsOf(first);
  expect(before.map(({ state }) => state)).toEqual(['resolved', 'resolved']);
  for (const { resolved_at: at } of before) expect(at).toBeString();
  await first.stop();
  expect(await alertsOf(await scene(config, {}, path))).toEqual(before);
});

test('a failing endpoint and a refused key are reported, and again after an hour', async () => {
  const { ask, received, clock } = await scene();
  for (let count = 0; count < 8; count++) await ask('mine/bad');
  await ask('mine/locked');
  const messages = inOrder(await received(2));
  expect(messages.map(({ type, data }) => [type, data['endpoint'] ?? data['provider']])).toEqual([
    ['endpoint.opened', 'sim'],
    ['provider.key_refused', 'sim'],
  ]);
  expect(messages[0]?.data).toMatchObject({
    model: 'mine/bad',
    reason: expect.stringContaining('failures in'),
  });
  clock.advance(3_600_000);
  await ask('mine/locked');
  expect((await received(3))[2]).toMatchObject({ type: 'provider.key_refused', data: { status: 401 } });
});

test('an endpoint whose breaker opens because of rate limits alone is not reported as failing', async () => {
  // The simulated model says when to come back, which pauses an endpoint and opens no breaker.
  const upstream = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => Response.json({ error: { message: 'Too many requests.' } }, { status: 429 }),
  });
  undo.push(() => upstream.stop(true));
  const { ask, received } = await scene({
    providers: {
      busy: { api_key: 'sk-test', protocols: { 'openai-chat': { base_url: `${upstream.url.origin}/v1` } } },
    },
    models: [{ id: 'mine/limited', endpoints: [{ provider: 'busy', model: 'm' }] }],
  });
  for (let count = 0; count < 8; count++) await ask('mine/limited');
  const [alert] = await received(1);
  expect(alert?.data).toMatchObject({
    message: expect.stringMatching(
      /^the endpoint busy of mine\/limited is rate limited and is now tried last/,
    ),
  });
});

test('a failing receiver gets the same message again with growing delays, and a removed one does not', async () => {
  const { ask, receiver, received, clock, gateway } = await scene();
  receiver.statuses.push(500, 503);
  await ask('mine/locked');
  await received(1);
  const pauses: number[] = [];
  let since = clock.now();
  const failures = (): number =>
    gateway.logLines.filter((line) => line.includes('will be sent again')).length;
  await eventually('it was sent three times', () => {
    // A message on its way has only so much time.
    if (failures() === receiver.received.length) clock.advance(1000);
    if (receiver.received.length > pauses.length + 1) {
      pauses.push(clock.now() - since);
      since = clock.now();
    }
    return pauses.length === 2;
  });
  expect(pauses[1]).toBeGreaterThan(2 * (pauses[0] ?? Infinity));
  const messages = await received(3);
  expect(new Set(messages.map(({ id }) => id)).size).toBe(1);
  clock.advance(3_600_000);
  receiver.statuses.push(410);
  await ask('mine/locked');
  await eventually('it is given up', () =>
    gateway.logLines.some((line) => line.includes('could not be delivered')),
  );
  clock.advance(600_000);
  expect(receiver.received).toHaveLength(4);
});

test('a receiver gets the alerts that it subscribes to, and every alert is in the log', async () => {
  const { ask, received, gateway } = await scene({}, { events: ['endpoint.opened'] });
  await ask('mine/locked');
  for (let count = 0; count < 8; count++) await ask('mine/bad');
  expect((await received(1)).map(({ type }) => type)).toEqual(['endpoint.opened']);
  expect(gateway.logLines.filter((line) => line.includes('"alert":"provider.key_refused"'))).toHaveLength(1);
  expect(gateway.logLines.join('')).not.toContain(WEBHOOK_SECRET);
});

test('records that cannot be written are reported without a query to the database', async () => {
  const clock = new ManualClock(NOON);
  const raised: Alert[] = [];
  const over: [type: string, raisedAt: number][] = [];
  let isStuck = false;
  const watch = new Watch({
    limits: new Limits({ entriesOf: () => [], limitsProviders: () => false, all: () => [] }, clock.now),
    routing: new MemoryRoutingState({
      now: clock.now,
      breaker: () => ({ failures: 5, windowMs: 1000, openMs: 1000 }),
    }),
    ledger: { backlog: () => ({ bytes: 5, isStuck, isFull: false }) },
    clock,
    raise: async (alert) => void raised.push(alert),
    over: async ({ type }, raisedAt) => void over.push([type, raisedAt]),
  });
  watch.finished({ ...finishedRequest(), unrecorded: new Error('disk full') });
  clock.advance(1000);
  expect(raised.map(({ type, isNoted, data }) => [type, isNoted, data['unrecorded']])).toEqual([
    ['ledger.failing', false, true],
  ]);
  isStuck = true;
  clock.advance(29_000);
  isStuck = false;
  clock.advance(1000);
  isStuck = true;
  clock.advance(30_000);
  expect(raised).toHaveLength(1);
  clock.advance(1000);
  expect(raised[1]).toMatchObject({ type: 'ledger.failing', data: { unrecorded: false, waiting_bytes: 5 } });
  // An alert that is over is kept, because it could not be noted before.
  const raisedAt = clock.wall();
  isStuck = false;
  clock.advance(1000);
  expect(over).toEqual([
    ['ledger.failing', NOON + 1000],
    ['ledger.failing', raisedAt],
  ]);
  watch.stop();
});
