// When an endpoint is left alone: the breaker and the upstream's own rate limits, through the port of what routing
// remembers.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { AttemptLease } from '../../../src/engine/routing/state.ts';
import {
  A,
  B,
  Bench,
  CALLERS,
  CANCELLED,
  DOWN,
  SEED,
  SETTINGS,
  SUCCESS,
  limited,
} from '../../support/routing-bench.ts';
import { casesOf } from '../../support/share.ts';

describe('breaker', () => {
  test('opens at the fifth failure in its window, with the reason', () => {
    const bench = new Bench();
    bench.fail(4);
    expect(bench.availability).toBe('closed');
    bench.fail(1, { ...DOWN, failure: 'timeout' });
    expect(bench.health().availability(bench.clock.now())).toEqual({
      state: 'open',
      until: bench.clock.now() + 15_000,
      reason: '5 failures in 30 s (timeout)',
    });
    expect(bench.state.admits(A)).toBe(false);
    expect(bench.state.admits(B)).toBe(true);
  });

  test('does not open while more attempts succeed than fail', () => {
    const bench = new Bench();
    bench.fail(9, SUCCESS);
    bench.fail(8, DOWN);
    expect(bench.availability).toBe('closed');
    bench.fail(1, DOWN);
    expect(bench.availability).toBe('open');
  });

  test('forgets failures when the window has passed', () => {
    const bench = new Bench();
    bench.fail(4);
    bench.clock.advance(30_000);
    bench.fail(4);
    expect(bench.availability).toBe('closed');
    bench.clock.advance(20_000);
    bench.fail(1);
    expect(bench.availability).toBe('open');
  });

  test.each([
    ['the caller’s mistakes', CALLERS],
    ['rate limits', limited(0)],
    ['cancelled attempts', CANCELLED],
  ])('does not count %s', (_, outcome) => {
    const bench = new Bench();
    bench.fail(50, outcome);
    expect(bench.availability).toBe('closed');
    bench.fail(5, DOWN);
    expect(bench.availability).toBe('open');
  });

  test('half-open, it admits one attempt at a time', () => {
    const bench = new Bench();
    bench.halfOpen();
    bench.clock.advance(-1);
    expect(bench.availability).toBe('open');
    bench.clock.advance(1);
    expect(bench.health().availability(bench.clock.now())).toEqual({
      state: 'half-open',
      until: bench.clock.now(),
      reason: '5 failures in 30 s (upstream_unavailable)',
    });
    expect(bench.state.admits(A)).toBe(true);
    // Asking takes no place; beginning does.
    expect(bench.state.admits(A)).toBe(true);
    const trial = bench.state.begin(A, true);
    expect(bench.state.admits(A)).toBe(false);
    expect(bench.availability).toBe('half-open');
    trial.ended(CANCELLED);
    expect(bench.availability).toBe('half-open');
    expect(bench.state.admits(A)).toBe(true);
  });

  test.each([
    ['its first content', (lease: AttemptLease) => lease.firstContent()],
    ['its completion', (lease: AttemptLease) => lease.ended(SUCCESS)],
  ])('a trial closes it by %s, and the failures are forgotten', (_, show) => {
    const bench = new Bench();
    bench.halfOpen();
    show(bench.state.begin(A, true));
    expect(bench.availability).toBe('closed');
    expect(bench.state.admits(A)).toBe(true);
    bench.fail(4);
    expect(bench.availability).toBe('closed');
    bench.fail(1);
    expect(bench.availability).toBe('open');
  });

  test('a failed trial opens it again for as long', () => {
    const bench = new Bench();
    bench.halfOpen();
    bench.whole(2000, { ...DOWN, failure: 'timeout' });
    expect(bench.health().availability(bench.clock.now())).toEqual({
      state: 'open',
      until: bench.clock.now() + 15_000,
      reason: 'failed again in a trial request (timeout)',
    });
    bench.clock.advance(15_000);
    expect(bench.state.admits(A)).toBe(true);
  });

  test.each([
    ['the caller’s mistake', CALLERS],
    ['a rate limit', limited(0)],
  ])('%s gives the place back without a verdict', (_, outcome) => {
    const bench = new Bench();
    bench.halfOpen();
    bench.whole(0, outcome);
    expect(bench.availability).toBe('half-open');
    expect(bench.state.admits(A)).toBe(true);
  });

  test('attempts that began before it opened change nothing any more', () => {
    const bench = new Bench();
    const old = Array.from({ length: 11 }, () => bench.state.begin(A, true));
    bench.fail(5);
    old[0]?.firstContent();
    old[0]?.ended(SUCCESS);
    old[1]?.ended(DOWN);
    expect(bench.availability).toBe('open');
    bench.clock.advance(15_000);
    expect(bench.availability).toBe('half-open');
    old[2]?.firstContent();
    old[2]?.ended(DOWN);
    expect(bench.availability).toBe('half-open');
    bench.state.begin(A, true).firstContent();
    for (const lease of old.slice(3, 5)) lease.ended(DOWN);
    for (const lease of old.slice(5)) lease.ended(SUCCESS);
    bench.fail(4);
    expect(bench.availability).toBe('closed');
    bench.fail(1);
    expect(bench.availability).toBe('open');
  });

  test('requests that completed before it opened do not keep it closed later', () => {
    const bench = new Bench();
    bench.fail(9, SUCCESS);
    bench.fail(9, DOWN);
    bench.clock.advance(15_000);
    bench.state.begin(A, true).firstContent();
    bench.fail(5);
    expect(bench.availability).toBe('open');
  });

  test('during a probe, a failure of a last-resort attempt changes nothing', () => {
    const bench = new Bench();
    bench.halfOpen();
    const trial = bench.state.begin(A, true);
    bench.fail(1);
    expect(bench.availability).toBe('half-open');
    expect(bench.state.admits(A)).toBe(false);
    trial.firstContent();
    expect(bench.availability).toBe('closed');
  });

  test('a successful last-resort attempt closes it', () => {
    const bench = new Bench();
    bench.fail(5);
    bench.fail(1);
    expect(bench.availability).toBe('open');
    bench.stream(10);
    expect(bench.availability).toBe('closed');
  });

  test('obeys the settings that hold now', () => {
    const bench = new Bench();
    bench.fail(4);
    bench.settings = { failures: 2, windowMs: 60_000, openMs: 1000 };
    bench.fail(1);
    expect(bench.availability).toBe('closed');
    bench.fail(1);
    expect(bench.health().availability(bench.clock.now())).toMatchObject({
      reason: '2 failures in 60 s (upstream_unavailable)',
      until: bench.clock.now() + 1000,
    });
  });

  test('keeps its rules for any order of attempts', () => {
    const step = fc.oneof(
      { arbitrary: fc.constant({ does: 'begin' } as const), weight: 4 },
      { arbitrary: fc.record({ does: fc.constant('content' as const), which: fc.nat(20) }), weight: 1 },
      {
        arbitrary: fc.record({
          does: fc.constant('end' as const),
          outcome: fc.constantFrom(SUCCESS, DOWN, DOWN, DOWN, CALLERS, CANCELLED),
          which: fc.nat(20),
        }),
        weight: 4,
      },
      {
        arbitrary: fc.record({
          does: fc.constant('wait' as const),
          ms: fc.constantFrom(1, 900, 5000, 16_000),
        }),
        weight: 2,
      },
    );
    const visited = new Set<string>();
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120, minLength: 20 }), (steps) => {
        const bench = new Bench();
        const running: { lease: AttemptLease; isTrial: boolean; showed: boolean }[] = [];
        const failedAt: number[] = [];
        for (const next of steps) {
          const before = bench.availability;
          const taken = running.find(({ isTrial }) => isTrial);
          const at = 'which' in next ? next.which % Math.max(1, running.length) : 0;
          const one = running[at];
          // Only the trial that is under way keeps others out.
          if (before === 'half-open') expect(bench.state.admits(A)).toBe(!taken);
          else expect(bench.state.admits(A)).toBe(before === 'closed');
          if (next.does === 'wait') {
            bench.clock.advance(next.ms);
          } else if (next.does === 'begin') {
            if (!bench.state.admits(A)) continue;
            running.push({
              isTrial: before === 'half-open',
              lease: bench.state.begin(A, true),
              showed: false,
            });
          } else if (next.does === 'content') {
            if (!one || one.showed) continue;
            one.showed = true;
            one.lease.firstContent();
            if (one.isTrial) expect(bench.availability).toBe('closed');
            else expect(bench.availability).toBe(before);
            if (one.isTrial) failedAt.length = 0;
            one.isTrial = false;
          } else if (one) {
            running.splice(at, 1);
            one.lease.ended(next.outcome);
            if (next.outcome === DOWN) failedAt.push(bench.clock.now());
            if (one.isTrial && next.outcome === SUCCESS) {
              expect(bench.availability).toBe('closed');
              failedAt.length = 0;
            } else if (one.isTrial && next.outcome === DOWN) {
              expect(bench.availability).toBe('open');
            } else if (one.isTrial || next.outcome !== DOWN) {
              expect(bench.availability).toBe(before);
            } else if (bench.availability !== before) {
              expect([before, bench.availability]).toEqual(['closed', 'open']);
              const recent = failedAt.filter((ms) => ms > bench.clock.now() - SETTINGS.windowMs);
              expect(recent.length).toBeGreaterThanOrEqual(SETTINGS.failures);
            }
          }
          expect(bench.health().inFlight).toBe(running.length);
          visited.add(`${before} ${bench.availability}`);
        }
      }),
      { numRuns: casesOf(300), seed: SEED },
    );
    // The sequences went everywhere, or the rules above were not tried.
    expect([...visited].toSorted()).toEqual([
      'closed closed',
      'closed open',
      'half-open closed',
      'half-open half-open',
      'half-open open',
      'open half-open',
      'open open',
    ]);
  });
});

describe('rate limits', () => {
  test('make an endpoint unavailable for the time that it requested, and then it is closed again', () => {
    const bench = new Bench();
    bench.whole(0, limited(20_000));
    const until = bench.clock.now() + 20_000;
    expect(bench.health().availability(bench.clock.now())).toEqual({
      state: 'open',
      until,
      reason: `rate limited until ${new Date(until).toISOString()}`,
    });
    expect(bench.state.admits(A)).toBe(false);
    bench.clock.advance(19_999);
    expect(bench.state.admits(A)).toBe(false);
    bench.clock.advance(1);
    expect(bench.availability).toBe('closed');
    expect(bench.state.admits(A)).toBe(true);
  });

  test.each([
    ['ten minutes at most', 86_400_000, 600_000],
    ['ten minutes at most', Infinity, 600_000],
  ])('last %s despite a longer or infinite delay', (_, asked, expected) => {
    const bench = new Bench();
    bench.whole(0, limited(asked));
    expect(bench.health().availability(bench.clock.now()).until).toBe(bench.clock.now() + expected);
  });

  test('count for the breaker if they have no time', () => {
    const bench = new Bench();
    for (let count = 0; count < 4; count++) bench.whole(0, limited(undefined));
    expect(bench.availability).toBe('closed');
    bench.whole(0, limited(undefined));
    expect(bench.health().availability(bench.clock.now()).reason).toContain('5 failures');
  });

  test('are announced by a response with nothing remaining', () => {
    const bench = new Bench();
    const lease = bench.state.begin(A, true);
    lease.limits({ remaining: 1, resetMs: 60_000 });
    expect(bench.availability).toBe('closed');
    lease.ended(SUCCESS);
    const last = bench.state.begin(A, true);
    last.limits({ remaining: 0, resetMs: 60_000 });
    expect(bench.availability).toBe('open');
    last.firstContent();
    last.ended(SUCCESS);
    expect(bench.health().availability(bench.clock.now()).until).toBe(bench.clock.now() + 60_000);
    expect(bench.successRate).toBe(1);
  });

  test('a shorter one does not lift a longer one', () => {
    const bench = new Bench();
    bench.whole(0, limited(30_000));
    bench.whole(0, limited(1000));
    bench.state.begin(A, true).limits({ remaining: 0, resetMs: 0 });
    expect(bench.health().availability(bench.clock.now()).until).toBe(bench.clock.now() + 30_000);
  });

  test('and the breaker do not end each other: the later end applies', () => {
    const bench = new Bench();
    bench.fail(5);
    bench.whole(0, limited(5000));
    expect(bench.health().availability(bench.clock.now()).reason).toContain('5 failures');
    bench.whole(0, limited(40_000));
    expect(bench.health().availability(bench.clock.now()).reason).toContain('rate limited');
    bench.clock.advance(20_000);
    expect(bench.availability).toBe('open');
    expect(bench.state.admits(A)).toBe(false);
    bench.clock.advance(20_000);
    expect(bench.availability).toBe('half-open');
  });
});
