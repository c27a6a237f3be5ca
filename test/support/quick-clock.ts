// The machine's clock, whose intervals are a tenth. Tests with several polls of the job queue then need not wait for them.
import { type Clock, systemClock } from '../../src/base/runtime/clock.ts';

const FACTOR = 10;

/** @param aheadMs milliseconds by which the machine's clock was set forward; read each time */
export function quickClock(aheadMs: () => number = () => 0): Clock {
  return {
    ...systemClock,
    wall: () => systemClock.wall() + aheadMs(),
    every: (ms, run) => systemClock.every(ms / FACTOR, run),
  };
}
