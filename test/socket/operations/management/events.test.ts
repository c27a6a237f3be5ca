// Events of a gateway, as an admin receives them while they happen.
import { afterEach, expect, test } from 'bun:test';
import { join } from 'node:path';
import { operatorToken } from '../../../../src/accounts/auth/index.ts';
import { openSqliteStorage } from '../../../../src/storage/sqlite/storage.ts';
import { TEST_KEY } from '../../../support/harness.ts';
import { LossyQueue } from '../../../../src/operations/management/lossy-queue.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { type Listening, listenAt, parse } from '../../../support/management/listen.ts';
import { ADMIN_KEY, type ManagedGateway, startManaged } from '../../../support/management/scene.ts';

const messages = [{ role: 'user', content: 'Hi' }];
const gateways: ManagedGateway[] = [];
afterEach(() => Promise.all(gateways.splice(0).map((gateway) => gateway.close())));

async function start(...given: Parameters<typeof startManaged>): Promise<ManagedGateway> {
  const gateway = await startManaged(...given);
  gateways.push(gateway);
  return gateway;
}

const listen = (gateway: ManagedGateway, query = '', key = ADMIN_KEY): Promise<Listening> =>
  listenAt(gateway.origin, key, query);

test('the event of a finished request equals its entry in the list', async () => {
  const gateway = await start();
  const events = await listen(gateway, '?types=generation');
  const answer = await gateway.post('/chat/completions', { model: 'sim/echo', messages });
  const { type, data } = parse(await events.next());
  expect(type).toBe('generation');
  expect(data).toMatchObject({ id: answer.headers.get('x-request-id'), model: 'sim/echo', attempts: 1 });
  const { body } = await gateway.manage('GET', '/generations?limit=1');
  expect((body['data'] as unknown[])[0]).toEqual(data);
  await events.leave();
});

test('an endpoint that is disabled and enabled again is announced', async () => {
  const clock = new ManualClock();
  const gateway = await start({}, { clock });
  await gateway.post('/chat/completions', { model: 'sim/echo', messages });
  const events = await listen(gateway, '?types=endpoint');
  const separate = { state: 'open', model: 'sim/echo', reason: 'maintenance' };
  await gateway.manage('POST', '/providers/sim/breaker', separate);
  clock.advance(1_000);
  expect(parse(await events.next())).toMatchObject({
    type: 'endpoint',
    data: { model: 'sim/echo', state: 'open', reason: expect.stringContaining('maintenance') },
  });
  await gateway.manage('POST', '/providers/sim/breaker', { state: 'closed', model: 'sim/echo' });
  clock.advance(1_000);
  expect(parse(await events.next()).data).toMatchObject({ model: 'sim/echo', state: 'closed', until: null });
  await events.leave();
});

test('a budget that passes a threshold is reported as an alert', async () => {
  const clock = new ManualClock();
  const price = { input: 0, output: 0, request: 0.5 };
  const gateway = await start(
    {
      models: [{ id: 'mine/dear', endpoints: [{ provider: 'sim', model: 'echo', price }] }],
      keys: [{ name: 'test', key: TEST_KEY, budgets: [{ usd: 1, per: 'day' }] }],
    },
    { clock },
  );
  const events = await listen(gateway, '?types=alert');
  const answer = await gateway.post('/chat/completions', { model: 'mine/dear', messages });
  expect(answer.status).toBe(200);
  clock.advance(1_000);
  expect(parse(await events.next())).toMatchObject({
    type: 'alert',
    data: { type: 'budget.threshold_reached', data: { threshold_percent: 50, owner: { type: 'key' } } },
  });
  await events.leave();
});

test('changes are reported once a second at most', async () => {
  const clock = new ManualClock();
  const gateway = await start({}, { clock });
  const events = await listen(gateway, '?types=activity,generation');
  for (let asked = 0; asked < 3; asked += 1) {
    await gateway.post('/chat/completions', { model: 'sim/echo', messages });
    expect(parse(await events.next()).type).toBe('generation');
  }
  clock.advance(1_000);
  expect(parse(await events.next())).toEqual({
    type: 'activity',
    data: {
      changed: [
        'batches',
        'generations',
        'jobs',
        'keys',
        'limits',
        'models',
        'problems',
        'providers',
        'usage',
      ],
    },
  });
  clock.advance(13_000);
  const separate = { state: 'open', model: 'sim/echo', reason: 'maintenance' };
  await gateway.manage('POST', '/providers/sim/breaker', separate);
  clock.advance(2_000);
  // The heartbeat says that nothing else was told before.
  expect(await events.next()).toBe(': heartbeat');
  clock.advance(1_000);
  expect(parse(await events.next()).data).toEqual({ changed: ['models', 'problems', 'providers'] });
  await gateway.manage('POST', '/keys', { name: 'new' });
  clock.advance(1_000);
  expect(parse(await events.next()).data).toEqual({ changed: ['keys', 'limits', 'problems', 'projects'] });
  await events.leave();
});

test('a silent stream is kept alive, and ends within two seconds when its key is revoked', async () => {
  const clock = new ManualClock();
  const gateway = await start({}, { clock });
  const made = await gateway.manage('POST', '/keys', { name: 'watcher', roles: ['admin'] });
  const events = await listen(gateway, '?types=alert', String(made.body['key']));
  clock.advance(15_000);
  expect(await events.next()).toBe(': heartbeat');
  await gateway.manage('DELETE', `/keys/${String(made.body['id'])}`);
  clock.advance(1_000);
  expect(await events.next()).toBeUndefined();
});

test('a stream ends within two seconds when its key is an admin no more', async () => {
  const clock = new ManualClock();
  const gateway = await start({}, { clock });
  const made = await gateway.manage('POST', '/keys', { name: 'watcher', roles: ['admin'], expires_at: null });
  const events = await listen(gateway, '?types=alert', String(made.body['key']));
  const changed = await gateway.manage('PATCH', `/keys/${String(made.body['id'])}`, { roles: ['models'] });
  expect(changed.status).toBe(200);
  clock.advance(1_000);
  expect(await events.next()).toBeUndefined();
});

test('a reader that signed in with a local token continues after the token has expired', async () => {
  const clock = new ManualClock();
  const gateway = await start({}, { clock });
  const storage = await openSqliteStorage({ path: join(gateway.dataDir, 'dragoman.db') });
  const request = { method: 'GET', url: `${gateway.origin}/v1/management/events?types=generation` };
  const token = operatorToken(request, await storage.secret('operator'), clock.now());
  await storage.close();
  const events = await listen(gateway, '?types=generation', token);
  clock.advance(90_000);
  for (let at = 0; at < 6; at += 1) expect(await events.next()).toBe(': heartbeat');
  await gateway.post('/chat/completions', { model: 'sim/echo', messages });
  expect(parse(await events.next()).type).toBe('generation');
  await events.leave();
});

test('a gateway that stops ends the streams of its events', async () => {
  const gateway = await startManaged();
  const events = await listen(gateway);
  const closing = gateway.close();
  expect(await events.next()).toBeUndefined();
  await closing;
});

test('keys for models cannot read events, and unknown kinds of events are refused', async () => {
  const gateway = await start();
  expect((await gateway.get('/management/events')).status).toBe(403);
  expect((await gateway.manage('GET', '/events?types=secrets')).status).toBe(400);
});

test('a slow reader loses the oldest events, and gets their number', () => {
  const sent: string[] = [];
  let hasRoom = false;
  const queue = new LossyQueue(
    (frame) => {
      sent.push(frame);
      return hasRoom;
    },
    (lost) => `(${lost} lost)`,
    3,
  );
  for (const frame of 'abcdefg') queue.push(frame);
  queue.offer('(beat)');
  expect(sent).toEqual(['a']);
  hasRoom = true;
  queue.drained();
  queue.push('h');
  expect(sent).toEqual(['a', '(3 lost)efg', 'h']);
});
