// When a socket that listens is closed: at the end of a turn of the loop in which hardly anything was done.
import { expect, test } from 'bun:test';
import { onQuietTurn } from '../src/runtime/quiet-turn.ts';

/** @param took how long each turn takes, in milliseconds; the last goes on for ever @returns after which it was called back */
function turnsUntilQuiet(took: readonly number[]): number {
  let nowMs = 1000;
  let turns = 0;
  let waiting: (() => void)[] = [];
  let isOver = false;
  onQuietTurn(() => (isOver = true), { elapsed: () => nowMs, turn: (run) => void waiting.push(run) });
  while (!isOver && turns < 10_000) {
    nowMs += took[Math.min(turns, took.length - 1)] ?? 0;
    turns += 1;
    const due = waiting;
    waiting = [];
    for (const run of due) run();
  }
  return turns;
}

test('a turn that ends without a look at the sockets is not taken for a quiet one', () => {
  expect(turnsUntilQuiet([0, 0.1])).toBe(2);
});

test('the first turn that was short is taken', () => {
  expect(turnsUntilQuiet([0, 5, 3, 0.1, 0.05])).toBe(4);
});

test('on a process that is never idle a longer one will do, and soon', () => {
  expect(turnsUntilQuiet([0, 2, 2, 2, 2, 0.4])).toBe(6);
  expect(turnsUntilQuiet([5])).toBeLessThan(25);
  expect(turnsUntilQuiet([90])).toBeLessThan(6);
});
