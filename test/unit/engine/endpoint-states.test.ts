// The state of an endpoint, rule by rule: the first that matches, from the top, wins.
import { describe, expect, test } from 'bun:test';
import type { ErrorKind } from '../../../src/canonical/index.ts';
import type { AttemptOutcome } from '../../../src/engine/routing/index.ts';
import {
  type EndpointDay,
  endpointState,
  worstOf,
} from '../../../src/operations/management/endpoint-state.ts';
import { A, Bench, SUCCESS } from '../../support/routing-bench.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const failed = (failure: ErrorKind): AttemptOutcome => ({ failure, endpointsFault: true, usage: null });
const DOWN = failed('upstream_unavailable');
const LIMITED = failed('rate_limited');
const REFUSED = failed('authentication');
const MISTAKE: AttemptOutcome = { failure: 'invalid_request', endpointsFault: false, usage: null };

class Scene extends Bench {
  of(day?: Partial<EndpointDay>) {
    const known = day && { attempts: 0, failedAttempts: 0, firstContentMs: null, ...day };
    return endpointState(this.state.seen(A), this.clock.now(), known);
  }

  ask(times: number, outcome: AttemptOutcome): void {
    for (let time = 0; time < times; time += 1) this.whole(10, outcome);
  }

  get word(): string {
    return this.of().state;
  }
}

describe('an endpoint', () => {
  test('has no traffic without an attempt, and a day after its last one', () => {
    const scene = new Scene();
    expect(scene.word).toBe('no_traffic');
    scene.ask(1, SUCCESS);
    expect(scene.word).toBe('healthy');
    scene.clock.advance(25 * HOUR);
    expect(scene.word).toBe('no_traffic');
  });

  test('is failing when its key is refused once, until three successful attempts in a row', () => {
    const scene = new Scene();
    scene.ask(1, SUCCESS);
    scene.ask(1, REFUSED);
    const { state, sinceMs } = scene.of();
    expect(state).toBe('failing');
    scene.ask(2, SUCCESS);
    scene.ask(1, REFUSED);
    expect(scene.of()).toMatchObject({ state: 'failing', sinceMs });
    scene.ask(2, SUCCESS);
    expect(scene.word).toBe('failing');
    scene.ask(1, SUCCESS);
    expect(scene.of()).toMatchObject({ state: 'healthy', sinceMs: null });
  });

  test('is failing when fewer than half of five attempts succeed, without counting rate limits', () => {
    const scene = new Scene();
    scene.settings = { ...scene.settings, failures: 1_000 };
    scene.ask(2, SUCCESS);
    scene.ask(30, LIMITED);
    expect(scene.word).toBe('degraded');
    scene.ask(2, DOWN);
    expect(scene.word).toBe('degraded');
    scene.ask(1, DOWN);
    expect(scene.word).toBe('failing');
  });

  test('is degraded if rate limits alone opened its breaker', () => {
    const scene = new Scene();
    scene.ask(scene.settings.failures, LIMITED);
    expect(scene.state.seen(A)?.breaker(scene.clock.now()).state).toBe('open');
    expect(scene.word).toBe('degraded');
    scene.clock.advance(scene.settings.openMs);
    expect(scene.word).toBe('degraded');
  });

  test('is failing while its breaker is open, recovering while it is half-open, and does not alternate', () => {
    const scene = new Scene();
    scene.ask(scene.settings.failures, DOWN);
    expect(scene.word).toBe('failing');
    scene.clock.advance(scene.settings.openMs);
    expect(scene.word).toBe('recovering');
    scene.ask(1, SUCCESS);
    expect(scene.word).toBe('failing');
    scene.ask(2, SUCCESS);
    expect(scene.word).toBe('healthy');
  });

  test('is degraded below 95 % of 20 attempts, when the last of few failed, and when it is three times as slow', () => {
    const poor = new Scene();
    poor.settings = { ...poor.settings, failures: 1_000 };
    poor.ask(18, SUCCESS);
    poor.ask(2, DOWN);
    expect(poor.word).toBe('degraded');
    poor.ask(30, SUCCESS);
    expect(poor.word).toBe('healthy');
    const few = new Scene();
    few.ask(1, DOWN);
    expect(few.word).toBe('degraded');
    few.ask(1, MISTAKE);
    expect(few.word).toBe('healthy');
    const slow = new Scene();
    for (let time = 0; time < 30; time += 1) slow.stream(900);
    expect(slow.of({ firstContentMs: 200 }).state).toBe('degraded');
    expect(slow.of({ firstContentMs: 400 }).state).toBe('healthy');
  });

  test('is judged by its last 20 attempts if the last 15 minutes had none', () => {
    const scene = new Scene();
    scene.settings = { ...scene.settings, failures: 1_000 };
    scene.ask(40, SUCCESS);
    scene.ask(5, DOWN);
    expect(scene.of()).toMatchObject({ attempts: 45, asOfMs: null });
    const last = scene.clock.now();
    scene.clock.advance(20 * MINUTE);
    expect(scene.of()).toMatchObject({ state: 'degraded', attempts: 20, good: 15, bad: 5, asOfMs: last });
  });

  test('that an operator disabled is disabled, regardless of its attempts', () => {
    const scene = new Scene();
    scene.ask(1, REFUSED);
    scene.state.disable(A, scene.clock.now() + HOUR, 'maintenance');
    expect(scene.of()).toMatchObject({ state: 'disabled', reason: 'maintenance' });
    scene.clock.advance(HOUR);
    expect(scene.word).toBe('failing');
  });

  test('with attempts before a restart is judged by its records', () => {
    const scene = new Scene();
    scene.clock.advance(HOUR);
    const atMs = scene.clock.now() - 5 * MINUTE;
    scene.state.recall(A, [
      { atMs, end: 'good' },
      { atMs: atMs + 1, end: 'refused' },
    ]);
    expect(scene.of()).toMatchObject({ state: 'failing', attempts: 2, sinceMs: atMs + 1 });
  });

  test('with attempts that are only in the sums has traffic, and is judged by them', () => {
    const scene = new Scene();
    const stateOf = (attempts: number, failedAttempts: number) =>
      scene.of({ attempts, failedAttempts }).state;
    expect(stateOf(0, 0)).toBe('no_traffic');
    expect(stateOf(95, 2)).toBe('healthy');
    expect(stateOf(95, 6)).toBe('degraded');
    expect(stateOf(3, 1)).toBe('healthy');
    expect(stateOf(3, 3)).toBe('degraded');
    scene.ask(1, SUCCESS);
    expect(stateOf(3, 3)).toBe('healthy');
    scene.clock.advance(25 * HOUR);
    expect(stateOf(3, 3)).toBe('degraded');
  });

  test('counts an attempt once, though records of all of them are read later', () => {
    const scene = new Scene();
    scene.clock.advance(HOUR);
    const from = scene.clock.now();
    scene.ask(40, SUCCESS);
    const past = Array.from({ length: 40 }, (_, at) => ({ atMs: from + at, end: 'good' as const }));
    scene.state.recall(A, [{ atMs: from - 5 * MINUTE, end: 'bad' }, ...past]);
    expect(scene.of()).toMatchObject({ attempts: 41, good: 40, bad: 1 });
  });

  test('the worst state of several is shown', () => {
    const states = ['healthy', 'degraded', 'failing', 'no_traffic'] as const;
    expect(worstOf(states.map((state) => ({ state })))).toEqual({ state: 'failing' });
  });
});
