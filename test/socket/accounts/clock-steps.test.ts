// A machine's clock that is set while a gateway runs: nothing is refused or given back for that, no request is cut off, and
// what is shown and stored has the new time.
import { describe, expect, test } from 'bun:test';
import { Limiter, Reservation } from '../../../src/accounts/limits/index.ts';
import { startGateway, TEST_KEY, type TestGateway } from '../../support/harness.ts';
import { HOUR, MODEL, NOON } from '../../support/limits-scene.ts';
import { startManaged } from '../../support/management/scene.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { eventually } from '../../support/program.ts';
import { at, type Json } from '../../support/upstreams/json-path.ts';
import { undoAfterEach } from '../../support/undo.ts';
import { StreamReading } from '../../support/upstreams/gateway-with-upstreams.ts';

const DAY = 24 * HOUR;
const STEPS = [2_000, -2_000, HOUR, -HOUR, 40 * DAY, -40 * DAY];

const undo = undoAfterEach();

async function start(
  clock: ManualClock,
  config: Readonly<Record<string, unknown>> = {},
): Promise<TestGateway> {
  const gateway = await startGateway(config, { clock });
  undo.push(() => gateway.close());
  return gateway;
}

const chat = (more: object = {}): object => ({
  model: 'sim/echo',
  messages: [{ role: 'user', content: 'Hi' }],
  ...more,
});

async function recordOf(gateway: TestGateway, answer: Response): Promise<Json> {
  const id = answer.headers.get('x-request-id') ?? '';
  return (await (await gateway.get(`/generation?id=${id}`)).json()) as Json;
}

test.each(STEPS)('set by %d ms, it makes no request a 503', async (ms) => {
  const clock = new ManualClock(NOON);
  const gateway = await start(clock, { server: { overload: { lag_ms: 1000 } } });
  clock.advance(1_000);
  clock.step(ms);
  clock.advance(100);
  const answer = await gateway.post('/chat/completions', chat());
  expect(answer.status).toBe(200);
  await answer.text();
  const ready = await fetch(`${gateway.origin}/readyz`);
  expect(ready.status).toBe(200);
  await ready.text();
});

test.each(STEPS)('set by %d ms and back, it gives nothing of a rate back', async (ms) => {
  const clock = new ManualClock(NOON);
  const gateway = await start(clock, {
    keys: [{ name: 'test', key: TEST_KEY, limits: [{ requests: 2, per: 'minute' }] }],
  });
  const status = async (): Promise<number> => {
    const answer = await gateway.post('/chat/completions', chat());
    await answer.text();
    return answer.status;
  };
  expect([await status(), await status(), await status()]).toEqual([200, 200, 429]);
  clock.step(ms);
  clock.advance(1_000);
  expect(await status()).toBe(429);
  clock.step(-ms);
  clock.advance(1_000);
  expect(await status()).toBe(429);
  clock.advance(58_000);
  expect(await status()).toBe(200);
});

test('a refusal names the time at which it frees as the machine has it now', async () => {
  const clock = new ManualClock(NOON);
  const gateway = await start(clock, {
    keys: [{ name: 'test', key: TEST_KEY, limits: [{ requests: 1, per: 'minute' }] }],
  });
  await (await gateway.post('/chat/completions', chat())).text();
  clock.step(HOUR);
  clock.advance(1_000);
  const refused = await gateway.post('/chat/completions', chat());
  expect(refused.headers.get('retry-after')).toBe('59');
  expect(await refused.text()).toContain(new Date(NOON + HOUR + 60_000).toISOString());
});

test.each(STEPS)('set by %d ms, it cuts no answer off, and its record has true durations', async (ms) => {
  const clock = new ManualClock(NOON);
  const gateway = await start(clock);
  clock.step(ms);
  clock.advance(200);
  const answer = await gateway.post('/chat/completions', chat({ model: 'sim/paced-20', stream: true }));
  const reading = new StreamReading(answer);
  await reading.more();
  clock.step(ms);
  clock.advance(700);
  const text = await reading.rest();
  expect(text).toContain('[DONE]');
  expect(text).not.toContain('"error"');
  const record = await recordOf(gateway, answer);
  expect(at(record, 'created_at')).toBe(new Date(NOON + 200 + ms).toISOString());
  const [latency, generation] = ['latency', 'generation_time'].map((name) => Number(at(record, name)));
  expect((latency ?? 0) + (generation ?? 0)).toBe(700);
});

test('an endpoint that is disabled for a time is enabled again when it should be, and reports the new time', async () => {
  const clock = new ManualClock(NOON);
  const gateway = await startManaged({}, { clock });
  undo.push(() => gateway.close());
  await (await gateway.post('/chat/completions', chat())).text();
  await gateway.manage('POST', '/providers/sim/breaker', {
    state: 'open',
    model: 'sim/echo',
    for_ms: 60_000,
  });
  const standing = async (): Promise<readonly unknown[]> => {
    const health = at((await gateway.manage('GET', '/models/sim/echo')).body, 'endpoints', 0, 'health');
    return [at(health, 'state'), at(health, 'until')];
  };
  clock.step(HOUR);
  clock.advance(10_000);
  expect(await standing()).toEqual(['open', new Date(NOON + HOUR + 60_000).toISOString()]);
  clock.step(-2 * HOUR);
  clock.advance(51_000);
  await eventually('it is asked again', async () => (await standing())[0] !== 'open');
});

describe('limits by calendar', () => {
  const scene = () => {
    const clock = new ManualClock(NOON);
    const limiter = new Limiter({ now: clock.now, wall: clock.wall });
    const key = limiter.scope({ kind: 'key', id: 'ci', name: 'ci' }, [{ requests: 3, per: 'day' }]);
    const estimate = { model: MODEL, endUser: null, tokens: 0, nanoUsd: 0 };
    const admit = (): boolean => limiter.admit([key], estimate, clock.now() + HOUR) instanceof Reservation;
    return { clock, limiter, key, admit };
  };

  test('go by the day that the machine has', () => {
    const { clock, limiter, key, admit } = scene();
    expect([admit(), admit(), admit(), admit()]).toEqual([true, true, true, false]);
    expect(limiter.limitUsages([key], null, null)[0]?.clearsAtMs).toBe(NOON + 12 * HOUR);
    clock.step(DAY);
    clock.advance(1_000);
    expect(admit()).toBe(true);
    expect(limiter.limitUsages([key], null, null)[0]?.clearsAtMs).toBe(NOON + 36 * HOUR);
  });

  test('spend no day twice when the clock is set back', () => {
    const { clock, admit } = scene();
    expect([admit(), admit(), admit(), admit()]).toEqual([true, true, true, false]);
    clock.step(DAY);
    clock.advance(1_000);
    expect([admit(), admit(), admit(), admit()]).toEqual([true, true, true, false]);
    clock.step(-DAY);
    clock.advance(1_000);
    expect(admit()).toBe(false);
  });
});
