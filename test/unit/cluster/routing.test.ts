// Routing state of other processes: they leave alone what one has found broken or full, know how fast what they have
// not tried is, and decide by their own eyes where they have some.
import { beforeEach, describe, expect, test } from 'bun:test';
import { type PubSub, RoutingExchange } from '../../../src/cluster/exchange/index.ts';
import { MemoryRoutingState } from '../../../src/engine/routing/index.ts';
import { A, B, CALLERS, DOWN, SUCCESS, usage } from '../../support/routing-bench.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { Board } from './board.ts';

const OPEN_MS = 30_000;
const breaker = () => ({ failures: 3, windowMs: 60_000, openMs: OPEN_MS });

class Process {
  readonly clock: ManualClock;
  readonly state: MemoryRoutingState;
  readonly exchange: RoutingExchange;

  constructor(pubSub: PubSub, aheadMs: number, processes = 2) {
    this.clock = new ManualClock(1_700_000_000_000 + aheadMs);
    const { now } = this.clock;
    this.state = new MemoryRoutingState({ now, breaker, isShared: true });
    this.exchange = new RoutingExchange({
      pubSub,
      routing: this.state,
      clock: this.clock,
      processes: () => processes,
    });
  }

  stream(firstTokenMs: number, outcome = SUCCESS, endpoint = A): void {
    const lease = this.state.begin(endpoint, true);
    this.clock.advance(firstTokenMs);
    if (outcome.failure === null) lease.firstContent();
    lease.ended(outcome);
  }
}

let board: Board;
let one: Process;
let two: Process;
const pass = (ms: number): void => {
  for (const each of [one, two]) each.clock.advance(ms);
};
beforeEach(() => {
  board = new Board();
  one = new Process(board.member(), 0);
  // Clocks differ.
  two = new Process(board.member(), 3_600_000);
  pass(3000);
  board.reported.length = 0;
});

describe('measures', () => {
  test('of one process are known to the other like its own', () => {
    for (let n = 0; n < 30; n += 1) {
      one.stream(200, { ...SUCCESS, usage: usage(2000, 0, 100) });
      pass(2000);
    }
    const health = two.state.health(A);
    expect(health.firstTokenMs).toBeCloseTo(200, 0);
    expect(health.p95Ms(true)).toBeGreaterThan(190);
    expect(health.successRate(two.clock.now())).toBe(1);
    expect(health.usualOutputTokens).toBeGreaterThanOrEqual(100);
    expect(two.state.health(B).firstTokenMs).toBeNull();
  });

  test('are published at most every two seconds in one message, and not if nothing is new', () => {
    for (let n = 0; n < 400; n += 1) {
      one.stream(5);
      one.stream(5, SUCCESS, B);
    }
    expect(board.reported.length).toBeLessThanOrEqual(3);
    pass(2000);
    const reported = board.reported.length;
    pass(60_000);
    expect(board.reported.length).toBe(reported);
    expect(Math.max(...board.reported.map(({ text }) => text.length))).toBeLessThan(1000);
    const crowd = new Process(board.member(), 0, 1000);
    for (let n = 0; n < 100; n += 1) crowd.stream(100);
    // A thousand tell fifty messages a second together.
    expect(board.reported.length - reported).toBeLessThanOrEqual(1);
  });

  test('and failures of one count in the other, but are published once', () => {
    one.stream(10, DOWN);
    one.stream(10, CALLERS);
    pass(2000);
    const failures = two.state.health(A).failures(two.clock.now());
    expect(Object.keys(failures).length).toBe(2);
    expect(two.state.health(A).successRate(two.clock.now())).toBeCloseTo(0.5, 1);
    pass(10_000);
    expect(board.reported).toHaveLength(1);
  });
});

describe('an endpoint that one has found', () => {
  test('to be full is skipped by the other within a quarter of a second, for the requested time', () => {
    one.stream(10, { failure: 'rate_limited', endpointsFault: true, retryAfterMs: 5000, usage: null });
    expect(two.state.admits(A)).toBe(true);
    pass(250);
    expect(two.state.admits(A)).toBe(false);
    expect(two.state.health(A).availability(two.clock.now()).reason).toContain('rate limited');
    pass(5000);
    expect(two.state.admits(A)).toBe(true);
  });

  test('to be broken is skipped by the other, and used by both when one has found it healthy', () => {
    for (let n = 0; n < 3; n += 1) one.stream(10, DOWN);
    pass(250);
    expect(two.state.admits(A)).toBe(false);
    pass(OPEN_MS);
    expect(two.state.health(A).availability(two.clock.now()).state).toBe('half-open');
    one.stream(10);
    pass(250);
    expect(two.state.health(A).availability(two.clock.now()).state).toBe('closed');
  });

  test('to be broken is still used by a process whose own attempts succeed', () => {
    two.stream(10);
    for (let n = 0; n < 3; n += 1) one.stream(10, DOWN);
    pass(250);
    expect(one.state.admits(A)).toBe(false);
    expect(two.state.admits(A)).toBe(true);
  });

  test('to be healthy is healthy to a process that saw it fail only after its own attempt', () => {
    for (let n = 0; n < 3; n += 1) two.stream(10, DOWN);
    pass(250);
    expect(one.state.admits(A)).toBe(false);
    for (let n = 0; n < 3; n += 1) one.state.begin(A, true).ended(SUCCESS);
    pass(250);
    expect(one.state.admits(A)).toBe(true);
    expect(two.state.admits(A)).toBe(false);
  });

  test('a change by an operator applies to all processes', () => {
    one.state.disable(A, one.clock.now() + 60_000, 'maintenance');
    pass(250);
    expect(two.state.health(A).availability(two.clock.now())).toMatchObject({
      state: 'open',
      reason: 'maintenance',
    });
    two.state.enable(A);
    pass(250);
    expect([one.state.admits(A), two.state.admits(A)]).toEqual([true, true]);
  });
});

test('the holder of a prompt cache is known to both, and published again after half of its time', () => {
  one.state.hold('conversation', A, 300_000);
  pass(2000);
  expect(two.state.holder('conversation')).toMatchObject(A);
  const reported = board.reported.length;
  one.state.hold('conversation', A, 300_000);
  pass(2000);
  expect(board.reported.length).toBe(reported);
  pass(150_000);
  one.state.hold('conversation', A, 300_000);
  pass(2000);
  expect(board.reported.length).toBe(reported + 1);
  pass(200_000);
  expect(two.state.holder('conversation')).toMatchObject(A);
});

test('messages that are no updates are ignored', () => {
  const other = board.member();
  const update = { endpoints: [], holds: [] };
  const bad = [
    '',
    '[]',
    'null',
    JSON.stringify([2, { endpoints: [{}], holds: [] }]),
    JSON.stringify([1, { ...update, endpoints: [{ modelId: 'x' }] }]),
    JSON.stringify([
      1,
      {
        ...update,
        endpoints: [{ ...A, measures: { streamMs: [-1] }, attempts: 1, faults: 0, failures: {} }],
      },
    ]),
    JSON.stringify([1, { ...update, holds: [{ ...A, conversation: 'c', forMs: 'long' }] }]),
    'x'.repeat(300_000),
  ];
  for (const text of bad) other.publish('routing', text);
  expect(one.state.remembered()).toEqual([]);
  expect(one.state.holder('c')).toBeNull();
  other.publish(
    'routing',
    JSON.stringify([1, { ...update, holds: [{ ...A, conversation: 'c', forMs: 1e15 }] }]),
  );
  expect(one.state.holder('c')).toMatchObject(A);
  pass(3_700_000);
  expect(one.state.holder('c')).toBeNull();
});

test('alone, nothing is collected', () => {
  const { now } = one.clock;
  const alone = new MemoryRoutingState({ now, breaker });
  alone.hold('c', A, 1000);
  alone.begin(A, true).ended(SUCCESS);
  alone.disable(A, now() + 1000, 'x');
  expect(alone.hasUrgentUpdate).toBe(false);
  expect(alone.takeUpdate()).toBeNull();
});
