// Admission, growth and settlement under limits and budgets: what is let through, what is refused, and what is said of it.
import { describe, expect, test } from 'bun:test';
import {
  nanoUsdOf,
  parseLimit,
  type Refusal,
  refusalText,
  Reservation,
} from '../../../src/accounts/limits/index.ts';
import { HOUR, LimitsScene, MODEL, NOON } from '../../support/limits-scene.ts';

const usd = nanoUsdOf;

describe('a rate', () => {
  test('admits its amount at once, and no more until the first request leaves the window', () => {
    const scene = new LimitsScene();
    const key = scene.key([{ requests: 3, per: 'minute' }]);
    for (let n = 0; n < 3; n += 1) {
      scene.spend(key, 0);
      scene.clock.advance(5000);
    }
    expect(scene.refused(key)).toMatchObject({ reason: 'rate', used: 3, needed: 1, frees: NOON + 60_000 });
    scene.clock.advance(45_000);
    scene.spend(key, 0);
    expect(scene.refused(key).frees).toBe(NOON + 65_000);
  });

  test('does not allow two bursts close together: a late request counts from its own time', () => {
    const scene = new LimitsScene();
    const key = scene.key([{ requests: 60, per: 'minute' }]);
    const admitted = (): number => {
      let count = 0;
      while (scene.admit(key) instanceof Reservation) count += 1;
      return count;
    };
    expect(admitted()).toBe(60);
    scene.clock.advance(60_600);
    expect(admitted()).toBe(60);
    scene.clock.advance(59_500);
    expect(admitted()).toBe(0);
    scene.clock.advance(500);
    expect(admitted()).toBe(60);
  });

  test('does not release capacity that became free during a long response', () => {
    const scene = new LimitsScene();
    const key = scene.key([{ tokens: 100, per: 'minute' }]);
    const long = scene.admitted(key, { tokens: 60 });
    scene.clock.advance(60_000);
    scene.limiter.grow(long, { requests: 1, tokens: 70, nanoUsd: 0 });
    scene.admitted(key, { tokens: 90 });
    expect(scene.used(key)).toEqual([100]);
    scene.limiter.settle(long, { requests: 0, tokens: 0, nanoUsd: 0 });
    expect(scene.used(key)).toEqual([90]);
    expect(scene.refused(key, { tokens: 20 })).toMatchObject({ reason: 'rate', used: 90 });
  });

  test('accepts its limit in a minute of constant requests, with no second burst at an edge', () => {
    const scene = new LimitsScene();
    const second = scene.key([{ requests: 7, per: 'second' }], 'seconds');
    const minute = scene.key([{ requests: 500, per: 'minute' }], 'minutes');
    const accepted = { second: [] as number[], minute: [] as number[] };
    for (let ms = 0; ms < 120_000; ms += 10) {
      for (let client = 0; client < 3; client += 1) {
        if (scene.admit(second) instanceof Reservation) accepted.second.push(ms);
        if (scene.admit(minute) instanceof Reservation) accepted.minute.push(ms);
      }
      scene.clock.advance(10);
    }
    const within = (times: readonly number[], from: number, ms: number): number =>
      times.filter((time) => time >= from && time < from + ms).length;
    expect(within(accepted.second, 0, 60_000)).toBe(420);
    expect(Math.max(...accepted.second.map((from) => within(accepted.second, from, 1000)))).toBe(7);
    expect(within(accepted.minute, 0, 60_000)).toBe(500);
    expect(within(accepted.minute, 60_000, 60_000)).toBe(500);
    expect(Math.max(...accepted.minute.map((from) => within(accepted.minute, from, 60_000)))).toBe(500);
  });

  const HAMMERED = [1, 2, 7, 33, 100, 250].flatMap((rate) =>
    [1, 3, 7].map((latest) => ({ rate, latest, per: 'second', ms: 1000 })),
  );
  test.each([...HAMMERED, { rate: 600, latest: 40, per: 'minute', ms: 60_000 }])(
    '$rate per $per with requests up to $latest ms late loses no more than that delay',
    ({ rate, latest, per, ms }) => {
      const scene = new LimitsScene();
      const key = scene.key([{ requests: rate, per }]);
      const accepted: number[] = [];
      // The same late moments in every run: a small generator of numbers (Lehmer).
      let seed = rate * 97 + latest;
      const end = NOON + 60 * ms;
      while (scene.clock.now() < end) {
        while (scene.admit(key) instanceof Reservation) accepted.push(scene.clock.now());
        seed = (seed * 48_271) % 2_147_483_647;
        scene.clock.advance(1 + (seed % latest));
      }
      expect(accepted.length).toBeLessThanOrEqual(60 * rate);
      // Requests of one step come free together, with the last of them.
      const slowest = ms + latest + ms / 1024;
      expect(accepted.length).toBeGreaterThanOrEqual(Math.floor((60 * ms) / slowest) * rate);
      // As many as the limit and one more always span all of a window.
      const spans = accepted.slice(rate).map((at, n) => at - (accepted[n] ?? 0));
      expect(Math.min(...spans)).toBeGreaterThanOrEqual(ms);
    },
  );

  test('counts from its admission, regardless of earlier free capacity', () => {
    const scene = new LimitsScene();
    const key = scene.key([{ requests: 1, per: 'minute' }]);
    for (const pause of [0, 60_000, 600, 601, 599]) {
      scene.admitted(key);
      expect(scene.refused(key).frees).toBe(scene.clock.now() + 60_000);
      scene.clock.advance(60_000);
      expect(scene.used(key)).toEqual([0]);
      scene.clock.advance(pause);
    }
  });

  test('of tokens is corrected by the actual usage, and admits a request that is larger than the limit', () => {
    const scene = new LimitsScene();
    const key = scene.key([{ tokens: 1000, per: 'minute' }]);
    const reservation = scene.admitted(key, { tokens: 800 });
    expect(scene.refused(key, { tokens: 300 }).frees).toBe(NOON + 60_000);
    scene.limiter.settle(reservation, { requests: 1, tokens: 100, nanoUsd: null });
    scene.admitted(key, { tokens: 300 });
    expect(scene.used(key)).toEqual([400]);
    expect(scene.refused(key, { tokens: 5000 })).toMatchObject({ needed: 1000, frees: NOON + 60_000 });
    scene.clock.advance(60_000);
    scene.admitted(key, { tokens: 5000 });
    expect(scene.used(key)).toEqual([5000]);
  });

  test('does not count a request that was not charged', () => {
    const scene = new LimitsScene();
    const key = scene.key([{ requests: 1, per: 'hour' }]);
    scene.limiter.settle(scene.admitted(key), { requests: 0, tokens: 0, nanoUsd: 0 });
    const turns = scene.admitted(key);
    expect(scene.limiter.grow(turns, { requests: 3, tokens: 0, nanoUsd: 0 })).toBeNull();
    scene.limiter.settle(turns, { requests: 3, tokens: 0, nanoUsd: 0 });
    expect(scene.used(key)).toEqual([3]);
  });
});

describe('concurrency', () => {
  test('is released once, for any end of the request', () => {
    const scene = new LimitsScene();
    const key = scene.key([{ concurrent: 2 }]);
    const [first] = [scene.admitted(key), scene.admitted(key)];
    expect(scene.refused(key)).toMatchObject({ reason: 'rate', frees: 'settled', used: 2 });
    const nothing = { requests: 0, tokens: 0, nanoUsd: null };
    scene.limiter.settle(first as Reservation, nothing);
    scene.limiter.settle(first as Reservation, nothing);
    expect(scene.used(key)).toEqual([1]);
    scene.admitted(key);
    scene.refused(key);
  });
});

describe('a budget', () => {
  test('is reserved by running requests, and charged with their cost', () => {
    const scene = new LimitsScene();
    const key = scene.key([{ usd: 1, per: 'day' }]);
    const reservation = scene.admitted(key, { nanoUsd: usd(0.8) });
    expect(scene.refused(key, { nanoUsd: usd(0.3) })).toMatchObject({ reason: 'budget', frees: 'settled' });
    scene.limiter.settle(reservation, { requests: 1, tokens: 10, nanoUsd: usd(0.25) });
    scene.spend(key, 0.75);
    expect(scene.refused(key, { nanoUsd: 1 })).toMatchObject({ frees: NOON + 12 * HOUR, reserved: 0 });
    scene.clock.advance(12 * HOUR);
    scene.spend(key, 1);
  });

  test('stops a running response when it costs more than is left', () => {
    const scene = new LimitsScene();
    const key = scene.key([{ usd: 1, per: 'day' }]);
    const reservation = scene.admitted(key, { nanoUsd: usd(0.5), leastNanoUsd: usd(0.1) });
    const other = scene.admitted(key, { nanoUsd: usd(0.9), leastNanoUsd: usd(0.1) });
    // It began with what was left.
    expect(scene.used(key)).toEqual([usd(1)]);
    const grow = (nanoUsd: number): Refusal | null =>
      scene.limiter.grow(reservation, { requests: 1, tokens: 0, nanoUsd });
    expect(grow(usd(0.5))).toBeNull();
    // The other response may release what it holds.
    expect(grow(usd(0.5) + 1)).toMatchObject({ reason: 'budget', frees: 'settled' });
    scene.limiter.settle(other, { requests: 1, tokens: 0, nanoUsd: usd(0.2) });
    expect(grow(usd(0.8))).toBeNull();
    // This one has used what it holds, and releases nothing when it ends.
    expect(grow(usd(0.81))).toMatchObject({ reason: 'budget', frees: NOON + 12 * HOUR });
    scene.limiter.settle(reservation, { requests: 1, tokens: 0, nanoUsd: usd(0.81) });
    expect(scene.limiter.limitUsages([key], MODEL, null)).toMatchObject([
      { used: usd(1.01), reserved: 0, remaining: 0, clearsAtMs: NOON + 12 * HOUR },
    ]);
  });

  test('lets running responses complete if it is configured so', () => {
    const scene = new LimitsScene();
    const key = scene.key([{ usd: 1, when_spent: 'finish' }]);
    const reservation = scene.admitted(key, { nanoUsd: usd(0.5) });
    expect(scene.limiter.grow(reservation, { requests: 1, tokens: 0, nanoUsd: usd(3) })).toBeNull();
    expect(scene.refused(key, { nanoUsd: 1 }).frees).toBe('settled');
    scene.limiter.settle(reservation, { requests: 1, tokens: 0, nanoUsd: usd(3) });
    expect(scene.refused(key, { nanoUsd: 1 }).frees).toBe('never');
    // A request that costs nothing passes still.
    scene.admitted(key, { nanoUsd: 0 });
  });

  test('refuses a request without a price, unless uncounted requests are allowed', () => {
    const scene = new LimitsScene();
    const strict = scene.key([{ usd: 1 }], 'strict');
    const open = scene.key([{ usd: 1, unpriced: 'allow' }], 'open');
    expect(scene.refused(strict, { nanoUsd: null })).toMatchObject({ reason: 'unpriced', frees: 'never' });
    const reservation = scene.admitted(open, { nanoUsd: null });
    scene.limiter.settle(reservation, { requests: 1, tokens: 1, nanoUsd: null });
    expect(scene.used(open)).toEqual([0]);
    // A price that is known before and not after leaves the estimate.
    scene.limiter.settle(scene.admitted(strict, { nanoUsd: 7 }), { requests: 1, tokens: 1, nanoUsd: null });
    expect(scene.used(strict)).toEqual([7]);
  });

  test('is exact over any number of small sums', () => {
    const scene = new LimitsScene();
    const key = scene.key([{ usd: 0.3 }]);
    for (let n = 0; n < 300; n += 1) scene.spend(key, 0.001);
    expect(scene.used(key)).toEqual([300_000_000]);
    scene.refused(key, { nanoUsd: 1 });
  });
});

describe('of several limits', () => {
  test('all or nothing is reserved', () => {
    const scene = new LimitsScene();
    const project = scene.limiter.scope({ kind: 'project', id: 'search', name: 'search' }, [
      { concurrent: 5 },
    ]);
    const key = scene.key([{ requests: 1, per: 'minute' }, { usd: 1 }]);
    scene.spend([project, key], 0.5);
    scene.refused([project, key], { nanoUsd: 1 });
    expect([scene.used(project), scene.used(key)]).toEqual([[0], [1, usd(0.5)]]);
  });

  test('the refusal names the limit that lasts longest', () => {
    const scene = new LimitsScene();
    const key = scene.key([{ usd: 1, per: 'day' }, { requests: 1, per: 'minute' }, { concurrent: 1 }]);
    scene.admitted(key, { nanoUsd: 5 });
    expect(scene.refused(key).limit.rule.kind).toBe('requests');
    expect(scene.refused(key, { nanoUsd: usd(2) }).limit.rule.kind).toBe('usd');
  });

  test('only the limits that include the model apply', () => {
    const scene = new LimitsScene();
    const key = scene.key([
      { requests: 1, per: 'hour', models: ['openai/*'] },
      { requests: 2, per: 'hour' },
    ]);
    scene.spend(key, 0);
    scene.refused(key);
    scene.spend(key, 0, { model: 'anthropic/claude' });
    expect(scene.refused(key, { model: 'anthropic/claude' }).limit.rule.amount).toBe(2);
    for (let n = 0; n < 500; n += 1) scene.refused(key, { model: `openai/${n}` });
  });
});

describe('each end user', () => {
  test('has its own counter, and requests without an end user share one', () => {
    const scene = new LimitsScene();
    const key = scene.key([{ requests: 1, per: 'day', each: 'end_user' }]);
    scene.spend(key, 0, { endUser: 'a' });
    scene.spend(key, 0, { endUser: 'b' });
    scene.spend(key, 0);
    for (const endUser of ['a', 'b', null]) scene.refused(key, { endUser });
    expect([scene.used(key, 'a'), scene.used(key)]).toEqual([[1], []]);
  });

  test.each([{ per: 'hour' }, { per: 'day' }, {}])(
    'keeps its usage even if there are too many end users: %p',
    (per) => {
      const scene = new LimitsScene(100);
      const key = scene.key([{ requests: 2, ...per, each: 'end_user' }]);
      scene.spend(key, 0, { endUser: 'early' });
      const running = scene.admitted(key, { endUser: 'early' });
      for (let n = 0; n < 2000; n += 1) scene.spend(key, 0, { endUser: `user ${n}` });
      expect(scene.used(key, 'early')).toEqual([2]);
      scene.limiter.settle(running, { requests: 1, tokens: 0, nanoUsd: 0 });
      for (let n = 0; n < 2000; n += 1) scene.spend(key, 0, { endUser: `other ${n}` });
      expect(scene.refused(key, { endUser: 'early' }).used).toBe(2);
      expect(scene.used(key, 'user 7')).toEqual([1]);
      expect(scene.used(key, 'nobody yet')).toEqual([0]);
      scene.clock.advance(24 * HOUR);
      expect(scene.used(key, 'early')).toEqual(['per' in per ? 0 : 2]);
    },
  );
});

test('end users whom one owner invents are not counted for those of another', () => {
  const scene = new LimitsScene(100);
  const [flooded, calm] = ['a', 'b'].map((id) =>
    scene.key([{ requests: 2, per: 'day', each: 'end_user' }], id),
  );
  if (!flooded || !calm) throw new Error('no keys');
  for (let n = 0; n < 200; n += 1) scene.spend(calm, 0, { endUser: `early ${n}` });
  for (let n = 0; n < 20_000; n += 1) scene.spend(flooded, 0, { endUser: `user ${n}` });
  for (let n = 0; n < 2000; n += 1) expect(scene.used(calm, `new ${n}`)).toEqual([0]);
  for (let n = 0; n < 200; n += 1) expect(scene.used(calm, `early ${n}`)).toEqual([1]);
});

describe('reloads and reservations', () => {
  test('a reload keeps the usage, also with another amount, and drops removed owners', () => {
    const scene = new LimitsScene();
    scene.spend(scene.key([{ requests: 2, per: 'day' }]), 0);
    const changed = scene.key([
      { requests: 5, per: 'day' },
      { requests: 5, per: 'hour' },
    ]);
    scene.limiter.keep([changed.owner]);
    expect(scene.used(changed)).toEqual([1, 0]);
    scene.limiter.keep([]);
    expect(scene.used(scene.key([{ requests: 5, per: 'day' }]))).toEqual([0]);
  });

  test('a reservation that is not settled is charged when it expires, and corrected by a later settlement', () => {
    const scene = new LimitsScene();
    const key = scene.key([{ concurrent: 2 }, { usd: 1 }]);
    const reported = scene.admitted(key, { nanoUsd: usd(0.3) });
    const silent = scene.admitted(key, { nanoUsd: usd(0.4) });
    scene.limiter.grow(reported, { requests: 1, tokens: 1, nanoUsd: usd(0.1) });
    scene.clock.advance(HOUR + 1);
    const last = scene.admitted(key);
    expect(scene.used(key)).toEqual([1, usd(0.5)]);
    expect(scene.limiter.open).toBe(1);
    for (const reservation of [reported, silent, last])
      scene.limiter.settle(reservation, { requests: 1, tokens: 1, nanoUsd: usd(0.2) });
    expect([scene.used(key), scene.limiter.open]).toEqual([[0, usd(0.6)], 0]);
  });

  test('the count of a vendor applies if it is higher', () => {
    const scene = new LimitsScene();
    const provider = scene.limiter.scope({ kind: 'provider', id: 'openai', name: 'openai' }, [
      { requests: 10, per: 'minute' },
    ]);
    scene.spend(provider, 0);
    scene.limiter.correct(provider, MODEL, { kind: 'requests', amount: 10 }, 9);
    expect(scene.used(provider)).toEqual([1]);
    scene.limiter.correct(provider, MODEL, { kind: 'requests', amount: 10 }, 0);
    const estimate = { model: MODEL, endUser: null, tokens: 0, nanoUsd: 0 };
    expect(scene.limiter.check([provider], estimate)).toMatchObject({ used: 10, frees: NOON + 60_000 });
    scene.clock.advance(60_000);
    expect(scene.limiter.check([provider], estimate)).toBeNull();
    expect(scene.used(provider)).toEqual([0]);
  });
});

test('a refusal names the limit, its owner, the usage, and the time when capacity is free', () => {
  const scene = new LimitsScene();
  const daily = scene.key([{ usd: 1.5, per: 'day', timezone: 'Europe/Berlin' }]);
  scene.spend(daily, 1.25);
  expect(refusalText(scene.refused(daily, { nanoUsd: usd(0.300001) }))).toBe(
    '$1.50 per day (Europe/Berlin) (the limit of key "ci") is reached: $1.25 used, $0.300001 needed. Capacity is available at 2026-11-22T23:00:00.000Z.',
  );
  expect(refusalText(scene.refused(daily, { nanoUsd: usd(2) }))).toBe(
    'This request exceeds the whole limit of $1.50 per day (Europe/Berlin) (the limit of key "ci"): it may cost $2.00, including its output limit. Request fewer output tokens, send a shorter prompt, or ask an administrator to raise the limit.',
  );
  const unpriced = refusalText(scene.refused(daily, { nanoUsd: null }));
  expect(unpriced).toStartWith(
    `The price of ${MODEL} is unknown, so the budget of $1.50 per day (Europe/Berlin) (the limit of key "ci") cannot count`,
  );
  expect(unpriced).toContain('`price: { input: 0, output: 0 }`');
  expect(unpriced).toContain('`catalog.refresh` in dragoman.yaml');
  const command = /`dragoman keys set "ci" --budget "(.*?)"`/.exec(unpriced)?.[1] ?? '';
  expect(parseLimit(command)).toEqual({ usd: 1.5, per: 'day', timezone: 'Europe/Berlin', unpriced: 'allow' });
  const users = scene.limiter.scope({ kind: 'gateway', id: '', name: '' }, [
    { requests: 1, per: '5h', each: 'end_user', models: ['openai/*', 'mine'] },
    { concurrent: 1 },
  ]);
  const running = scene.admitted(users, { endUser: 'a' });
  expect(refusalText(scene.refused(users, { endUser: 'b' }))).toBe(
    '1 concurrent request (the limit of the gateway) is reached: 1 concurrent request used, 1 concurrent request needed. Capacity is released when running requests end.',
  );
  scene.limiter.settle(running, { requests: 1, tokens: 0, nanoUsd: 0 });
  expect(refusalText(scene.refused(users, { endUser: 'a' }))).toBe(
    '1 request in 5h for openai/*, mine (the limit of the gateway for each end user) is reached: 1 request used, 1 request needed. Capacity is available at 2026-11-22T17:00:00.000Z.',
  );
});
