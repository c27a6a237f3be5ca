// Memory of a burst is given back once it is over, and never while it lasts or the process is busy.
import { expect, test } from 'bun:test';
import { returnMemory } from '../../../src/server/body/memory-return.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const MB = 1_048_576;

/** Lets the process have these sizes, one a second. @returns in which seconds it was collected */
function collectedIn(sizes: readonly number[], leaves: (size: number) => number, usedMs = 0): number[] {
  const clock = new ManualClock();
  let second = 0;
  const collected: number[] = [];
  let size = sizes[0] ?? 0;
  const stop = returnMemory({
    clock,
    residentBytes: () => size * MB,
    usedMs: () => second * usedMs,
    collect: () => {
      collected.push(second);
      size = leaves(size);
    },
  });
  for (const next of sizes) {
    size = next;
    clock.advance(1000);
    second++;
  }
  stop();
  clock.advance(60_000);
  return collected;
}

test('the memory of a burst is collected after it', () => {
  expect(collectedIn([100, 400, 700, 705, 100, 100], () => 100)).toEqual([3]);
});

test('memory that stays in use is collected less and less often, and then no more', () => {
  const sizes = [100, ...Array.from({ length: 200 }, () => 400)];
  expect(collectedIn(sizes, (size) => size)).toEqual([2, 4, 8, 16, 32, 64]);
});

test('memory that is released later is collected, too', () => {
  let times = 0;
  const collected = collectedIn([100, 400, 400, 400, 400, 100], () => (times++ === 0 ? 400 : 100));
  expect(collected).toEqual([2, 4]);
});

test('a busy process is not stopped, nor one that has streams to pass on', () => {
  expect(collectedIn([100, 400, 400, 400, 400], () => 100, 900)).toEqual([]);
  expect(collectedIn([100, 400, 400, 400, 400], () => 100, 300)).toEqual([]);
});

test('repeated bursts are collected every ten seconds at most', () => {
  const sizes = [100, ...Array.from({ length: 30 }, () => 160)];
  expect(collectedIn(sizes, () => 100)).toEqual([2, 12, 22]);
});

test('a little is not worth the pause', () => {
  expect(collectedIn([100, 110, 120, 130, 140, 145, 145], () => 100)).toEqual([]);
});
