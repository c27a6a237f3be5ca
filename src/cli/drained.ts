// The end of running answers, when the process is to end.
import type { Gateway } from '../engine/index.ts';
import { systemClock } from '../runtime/clock.ts';

/** How often it is looked, in milliseconds, and how often at most after what still runs was told to end. */
const LOOK_MS = 50;
const LAST_LOOKS = 40;

/** Waits until nothing runs any more; what is still running at the deadline ends with a native error. */
export async function drained(gateway: Gateway, deadlineMs: number): Promise<void> {
  const step = (): Promise<void> => new Promise((resolve) => systemClock.after(LOOK_MS, resolve));
  const until = systemClock.now() + deadlineMs;
  while (gateway.active > 0 && systemClock.now() < until) await step();
  if (gateway.active === 0) return;
  gateway.abortAll();
  for (let look = 0; gateway.active > 0 && look < LAST_LOOKS; look++) await step();
}
