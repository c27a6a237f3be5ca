// Memory of routing on endpoints, turns and conversations, and how much of it there is, through its port.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { EndpointId } from '../../../src/engine/routing/state.ts';
import { A, B, Bench, CALLERS, CANCELLED, DOWN, SEED, SUCCESS, usage } from '../../support/routing-bench.ts';

test('an unknown endpoint has no measurements, and is admitted', () => {
  const { state, clock } = new Bench();
  const health = state.health(A);
  expect(health).toMatchObject({
    inFlight: 0,
    firstTokenMs: null,
    answerMs: null,
    tokensPerSecond: null,
    cacheHitRate: null,
    measuredAt: null,
    skippedPlans: 0,
  });
  expect(health.successRate(clock.now())).toBeNull();
  expect(health.failures(clock.now())).toEqual({});
  expect(health.p95Ms(true)).toBeNull();
  expect(health.p95Ms(false)).toBeNull();
  expect(health.availability(clock.now())).toEqual({ state: 'closed', until: null, reason: null });
  expect(state.admits(A)).toBe(true);
});

test('the state of an endpoint belongs to its id, not to an object', () => {
  const bench = new Bench();
  bench.stream(100);
  expect(bench.health({ ...A }).firstTokenMs).toBe(100);
  expect(bench.health(B).firstTokenMs).toBeNull();
  expect(bench.health({ modelId: A.slug, slug: A.modelId }).firstTokenMs).toBeNull();
});

describe('latency', () => {
  test('is measured to the first content of streams, and to the end of whole responses', () => {
    const bench = new Bench();
    bench.stream(200, 5000);
    expect(bench.health()).toMatchObject({ firstTokenMs: 200, answerMs: null });
    const lease = bench.state.begin(A, false);
    bench.clock.advance(900);
    lease.firstContent();
    lease.ended(SUCCESS);
    expect(bench.health()).toMatchObject({ firstTokenMs: 200, answerMs: 900, measuredAt: bench.clock.now() });
  });

  test('is not measured from failures, except for content before the failure of a stream', () => {
    const bench = new Bench();
    bench.whole(10, DOWN);
    const lease = bench.state.begin(A, true);
    bench.clock.advance(10);
    lease.ended(DOWN);
    expect(bench.health()).toMatchObject({ firstTokenMs: null, answerMs: null, measuredAt: null });
    bench.stream(300, 50, DOWN);
    expect(bench.health().firstTokenMs).toBe(300);
  });

  test('the first ten of a burst weigh the same, then each new one a tenth', () => {
    const bench = new Bench();
    const burst = (ms: number): void => {
      const lease = bench.state.begin(A, true);
      bench.clock.advance(ms);
      lease.firstContent();
      lease.ended(SUCCESS);
    };
    for (let ms = 1; ms <= 10; ms += 1) burst(ms);
    expect(bench.health().firstTokenMs).toBeCloseTo(5.5, 1);
    burst(100);
    expect(bench.health().firstTokenMs).toBeCloseTo(5.5 * 0.9 + 10, 1);
  });

  test('after a pause, a new measurement has more weight the longer the pause was', () => {
    const bench = new Bench();
    for (let n = 0; n < 20; n += 1) bench.stream(0);
    bench.clock.advance(29_000);
    bench.stream(1000);
    expect(bench.health().firstTokenMs).toBeCloseTo(1000 * (1 - Math.exp(-1)), 6);
    bench.clock.advance(3_600_000);
    bench.stream(50);
    expect(bench.health().firstTokenMs).toBeCloseTo(50, 6);
  });

  test('averages stay within the measurements and converge to the latest ones', () => {
    const measures = fc.array(
      fc.tuple(fc.integer({ max: 20_000, min: 0 }), fc.integer({ max: 90_000, min: 0 })),
      {
        maxLength: 40,
      },
    );
    fc.assert(
      fc.property(measures, fc.integer({ max: 20_000, min: 0 }), (past, present) => {
        const bench = new Bench();
        const seen: number[] = [];
        const measure = (ms: number, pauseMs: number): number => {
          bench.clock.advance(pauseMs);
          bench.stream(ms);
          seen.push(ms);
          return bench.health().firstTokenMs ?? NaN;
        };
        for (const [ms, pauseMs] of past) {
          const average = measure(ms, pauseMs);
          expect(average).toBeGreaterThanOrEqual(Math.min(...seen) - 1e-6);
          expect(average).toBeLessThanOrEqual(Math.max(...seen) + 1e-6);
        }
        // 0.9^100 of 20 s is less than a millisecond.
        for (let n = 0; n < 100; n += 1) measure(present, 0);
        expect(Math.abs((bench.health().firstTokenMs ?? NaN) - present)).toBeLessThan(1);
      }),
      { numRuns: 60, seed: SEED },
    );
  });
});

describe('95th percentile', () => {
  test('is known from the twentieth measurement on, for each kind separately', () => {
    const bench = new Bench();
    for (let n = 0; n < 19; n += 1) bench.stream(100);
    expect(bench.health().p95Ms(true)).toBeNull();
    bench.stream(100);
    expect(bench.health().p95Ms(true)).toBeCloseTo(2 ** (54 / 8), 6);
    expect(bench.health().p95Ms(false)).toBeNull();
  });

  test('is at least the exact value, and at most one class higher', () => {
    const durations = fc.array(fc.integer({ max: 900_000, min: 0 }), { maxLength: 200, minLength: 20 });
    fc.assert(
      fc.property(durations, (all) => {
        const bench = new Bench();
        // All end at the same instant, so that none has faded.
        const leases = all
          .toSorted((a, b) => b - a)
          .map((ms, at, sorted) => {
            if (at > 0) bench.clock.advance((sorted[at - 1] ?? 0) - ms);
            return bench.state.begin(A, true);
          });
        bench.clock.advance(Math.min(...all));
        for (const lease of leases) lease.firstContent();
        const p95 = bench.health().p95Ms(true) ?? NaN;
        const share = (limit: number): number => all.filter((ms) => ms <= limit).length / all.length;
        expect(share(p95 * (1 + 1e-9))).toBeGreaterThanOrEqual(0.95 - 1e-6);
        if (p95 > 1) expect(share(p95 / 2 ** (1 / 8) / (1 + 1e-9))).toBeLessThan(0.95 + 1e-6);
      }),
      { numRuns: 100, seed: SEED },
    );
  });

  test('follows the present behaviour of the endpoint', () => {
    const bench = new Bench();
    for (let n = 0; n < 200; n += 1) bench.stream(8000);
    expect(bench.health().p95Ms(true)).toBeCloseTo(8192, 0);
    bench.clock.advance(100 * 60_000);
    for (let n = 0; n < 20; n += 1) bench.stream(100);
    expect(bench.health().p95Ms(true)).toBeLessThan(110);
  });

  test('holds over months of even traffic', () => {
    const bench = new Bench();
    for (let hour = 0; hour < 24 * 60; hour += 1) {
      bench.stream(hour % 10 === 0 ? 1000 : 100);
      bench.clock.advance(3_600_000);
      const p95 = bench.health().p95Ms(true);
      if (hour >= 19) expect([99, 1000].some((ms) => (p95 ?? 0) >= ms && (p95 ?? 0) < ms * 1.1)).toBe(true);
    }
  });
});

describe('speed', () => {
  test('is measured from the first content of a stream, and from the beginning of a whole response', () => {
    const bench = new Bench();
    bench.stream(5000, 2000, { ...SUCCESS, usage: usage(10, 0, 100) });
    expect(bench.health().tokensPerSecond).toBeCloseTo(50, 6);
    bench.whole(4000, { ...SUCCESS, usage: usage(10, 0, 100) }, B);
    expect(bench.health(B).tokensPerSecond).toBeCloseTo(25, 6);
  });

  test('of a stream with reasoning includes all its time, because some reasoning may be hidden', () => {
    const bench = new Bench();
    bench.stream(9000, 1000, { ...SUCCESS, usage: usage(10, 0, 100, 900) });
    expect(bench.health().tokensPerSecond).toBeCloseTo(100, 6);
  });

  test('is not measured from nine tokens', () => {
    const bench = new Bench();
    bench.stream(10, 1000, { ...SUCCESS, usage: usage(10, 0, 9) });
    bench.whole(1000, { ...SUCCESS, usage: usage(10, 0, 9) });
    expect(bench.health().tokensPerSecond).toBeNull();
  });

  test.each([
    ['a whole answer of 49 ms', null, 49, 2000],
    ['a whole answer in no time at all', null, 0, 2000],
    ['a stream whose rest arrived at once', 10, 0, 2000],
    ['a stream that was kept back and came at once', 4000, 0, 25],
  ])('is at least what %s shows', (_, firstMs, ms, expected) => {
    const bench = new Bench();
    const outcome = { ...SUCCESS, usage: usage(10, 0, 100) };
    if (firstMs === null) bench.whole(ms, outcome);
    else bench.stream(firstMs, ms, outcome);
    expect(bench.health().tokensPerSecond).toBeCloseTo(expected, 6);
  });

  test('is not lowered by a response that is too short', () => {
    const bench = new Bench();
    bench.whole(100, { ...SUCCESS, usage: usage(10, 0, 1000) });
    bench.whole(20, { ...SUCCESS, usage: usage(10, 0, 10) });
    expect(bench.health().tokensPerSecond).toBeCloseTo(10_000, 6);
  });
});

describe('cache hits', () => {
  test('are the share of the prompt that was read from the cache, if there is one', () => {
    const bench = new Bench();
    bench.whole(1, { ...SUCCESS, usage: usage(1023, 1023, 1) });
    expect(bench.health().cacheHitRate).toBeNull();
    bench.whole(1, { ...SUCCESS, usage: usage(2048, 1024, 1) });
    expect(bench.health().cacheHitRate).toBe(0.5);
    bench.whole(0, { ...SUCCESS, usage: usage(2048, 0, 1) });
    expect(bench.health().cacheHitRate).toBe(0.25);
  });

  test('are not measured from estimates', () => {
    const bench = new Bench();
    bench.whole(1, { ...SUCCESS, usage: { ...usage(5000, 0, 1), estimated: true } });
    expect(bench.health().cacheHitRate).toBeNull();
  });
});

describe('success', () => {
  test('only failures of the endpoint itself lower the rate; all are counted by kind', () => {
    const bench = new Bench();
    bench.fail(2, SUCCESS);
    bench.fail(1, CALLERS);
    expect(bench.successRate).toBe(1);
    bench.fail(1, DOWN);
    expect(bench.successRate).toBe(0.75);
    expect(bench.health().failures(bench.clock.now())).toEqual({
      invalid_request: 1,
      upstream_unavailable: 1,
    });
  });

  test('counts halve in five minutes, and old ones are forgotten', () => {
    const bench = new Bench();
    bench.fail(2, DOWN);
    bench.clock.advance(5 * 60_000);
    expect(bench.health().failures(bench.clock.now())).toEqual({ upstream_unavailable: 1 });
    bench.fail(1, SUCCESS);
    expect(bench.successRate).toBe(0.5);
    bench.clock.advance(5 * 60_000);
    expect(bench.successRate).toBe(0.5);
    bench.clock.advance(30 * 60_000);
    expect(bench.successRate).toBeNull();
    expect(bench.health().failures(bench.clock.now())).toEqual({});
  });

  test('a cancelled attempt changes nothing', () => {
    const bench = new Bench();
    const lease = bench.state.begin(A, true);
    expect(bench.health().inFlight).toBe(1);
    bench.clock.advance(100);
    lease.ended({ ...CANCELLED, usage: usage(5000, 0, 500) });
    expect(bench.health()).toMatchObject({
      inFlight: 0,
      firstTokenMs: null,
      tokensPerSecond: null,
      cacheHitRate: null,
    });
    expect(bench.successRate).toBeNull();
    expect(bench.health().failures(bench.clock.now())).toEqual({});
  });

  test('an attempt that is ended twice is counted once', () => {
    const bench = new Bench();
    const other = bench.state.begin(A, true);
    const lease = bench.state.begin(A, true);
    lease.ended(DOWN);
    lease.ended(DOWN);
    expect(bench.health().inFlight).toBe(1);
    expect(bench.health().failures(bench.clock.now())).toEqual({ upstream_unavailable: 1 });
    other.ended(SUCCESS);
    expect(bench.health().inFlight).toBe(0);
  });
});

test('plans that passed an endpoint over are counted until it is tried', () => {
  const bench = new Bench();
  bench.state.skipped(A);
  bench.state.skipped({ ...A });
  expect(bench.health().skippedPlans).toBe(2);
  expect(bench.health(B).skippedPlans).toBe(0);
  bench.state.begin(A, true);
  expect(bench.health().skippedPlans).toBe(0);
});

describe('rounds', () => {
  test('count up from 0 for each scope; to peek does not count', () => {
    const { state } = new Bench();
    expect([
      state.turn('x', true),
      state.turn('x', false),
      state.turn('x', true),
      state.turn('x', false),
    ]).toEqual([0, 0, 1, 1]);
    expect(state.turn('y', false)).toBe(0);
  });

  test('ten thousand are remembered, those of late', () => {
    const { state } = new Bench();
    for (let n = 0; n < 9999; n += 1) state.turn(`scope ${n}`, false);
    state.turn('scope 0', false);
    state.turn('one more', false);
    state.turn('and one', false);
    expect(state.turn('scope 0', true)).toBe(2);
    expect(state.turn('scope 1', true)).toBe(0);
    expect(state.turn('scope 2', true)).toBe(1);
  });
});

describe('conversations', () => {
  test('are held until they expire, by the last one to hold them', () => {
    const { state, clock } = new Bench();
    expect(state.holder('talk')).toBeNull();
    state.hold('talk', A, 300_000);
    clock.advance(299_999);
    expect(state.holder('talk')).toMatchObject(A);
    clock.advance(1);
    expect(state.holder('talk')).toBeNull();
    state.hold('talk', A, 1000);
    state.hold('talk', B, 2000);
    clock.advance(1000);
    expect(state.holder('talk')).toMatchObject(B);
    expect(state.holder('another')).toBeNull();
  });

  test('the holder is found in the state like the endpoint itself', () => {
    const bench = new Bench();
    bench.stream(70);
    bench.state.hold('talk', A, 1000);
    expect(bench.health(bench.state.holder('talk') ?? B).firstTokenMs).toBe(70);
  });

  test('fifty thousand are remembered, those of late', () => {
    const { state } = new Bench();
    for (let n = 0; n < 50_000; n += 1) state.hold(`talk ${n}`, A, 1000);
    state.hold('talk 0', B, 1000);
    state.hold('one more', A, 1000);
    expect(state.holder('talk 0')).toMatchObject(B);
    expect(state.holder('talk 1')).toBeNull();
    expect(state.holder('talk 2')).toMatchObject(A);
  });
});

describe('memory', () => {
  const endpoint = (n: number): EndpointId => ({ modelId: `model ${n}`, slug: 'openai' });

  test('keeps 300 endpoints outside the catalog: the least recently tried is removed', () => {
    const bench = new Bench(() => false);
    for (let n = 0; n < 300; n += 1) bench.stream(7, 0, SUCCESS, endpoint(n));
    bench.stream(7, 0, SUCCESS, endpoint(0));
    bench.health(endpoint(300));
    expect(bench.health(endpoint(0)).firstTokenMs).toBe(7);
    expect(bench.health(endpoint(2)).firstTokenMs).toBe(7);
    expect(bench.health(endpoint(1)).firstTokenMs).toBeNull();
  });

  test('an endpoint with a running attempt stays, and keeps its measurements', () => {
    const bench = new Bench(() => false);
    const lease = bench.state.begin(A, true);
    for (let n = 0; n < 20_000; n += 1) bench.health(endpoint(n));
    expect(bench.health().inFlight).toBe(1);
    bench.clock.advance(7);
    lease.firstContent();
    lease.ended(SUCCESS);
    expect(bench.health().firstTokenMs).toBe(7);
    for (let n = 0; n < 20_000; n += 1) bench.health(endpoint(n));
    expect(bench.health().firstTokenMs).toBeNull();
  });

  test('more endpoints than that can be busy; the surplus is removed when they are idle', () => {
    const bench = new Bench(() => false);
    const leases = Array.from({ length: 400 }, (_, n) => bench.state.begin(endpoint(n), true));
    bench.clock.advance(7);
    for (const lease of leases) lease.firstContent();
    for (const lease of leases) lease.ended(SUCCESS);
    bench.health(A);
    expect(bench.health(endpoint(101)).firstTokenMs).toBe(7);
    expect(bench.health(endpoint(100)).firstTokenMs).toBeNull();
  });
});
