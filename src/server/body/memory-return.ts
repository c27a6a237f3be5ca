// Returns memory to the system after a burst. The runtime collects garbage only when it needs memory, so the memory of
// a burst could be held forever.
import type { Clock } from '../../base/runtime/clock.ts';

export interface MemoryReturnOptions {
  readonly clock: Clock;
  readonly residentBytes: () => number;
  /** CPU time used by this process, in milliseconds. */
  readonly usedMs: () => number;
  /** Collects garbage immediately, which stops the process for some tens of milliseconds. */
  readonly collect: () => void;
}

const LOOK_MS = 1_000;
const MIB = 1_048_576;
/** Growth above the last baseline that justifies a collection, in bytes. */
const LEAST_RETURN_BYTES = 48 * MIB;
/** Growth between two checks above which the burst continues, in bytes. */
const STILL_BYTES = 16 * MIB;

/**
 * CPU time between two checks above which a collection would delay many requests, in milliseconds. A hundred streams
 * use a third of it, and allocate in a second as much as a collection freed.
 */
const IDLE_CPU_MS = 100;
/** Number of checks without collection after a successful one; memory that returns immediately is needed. */
const REST = 10;
/**
 * Maximum checks between two collections that freed nothing; the interval doubles up to this. Then the memory counts as
 * needed.
 */
const LONGEST_WAIT = 32;

/** Starts checking. @returns a function that stops it */
export function returnMemory({ clock, residentBytes, usedMs, collect }: MemoryReturnOptions): () => void {
  let needed = residentBytes();
  let before = needed;
  let usedBefore = usedMs();
  let pause = 1;
  let wait = 0;
  return clock.every(LOOK_MS, () => {
    const now = residentBytes();
    const grows = now - before > STILL_BYTES;
    const used = usedMs();
    const isBusy = used - usedBefore > IDLE_CPU_MS;
    before = now;
    usedBefore = used;
    needed = Math.min(needed, now);
    wait -= 1;
    if (now - needed <= LEAST_RETURN_BYTES) pause = 1;
    if (grows || isBusy || wait > 0 || now - needed <= LEAST_RETURN_BYTES) return;
    collect();
    before = residentBytes();
    if (before - needed <= LEAST_RETURN_BYTES) {
      wait = REST;
      return;
    }
    // The memory may still be in use.
    pause *= 2;
    wait = pause;
    if (pause <= LONGEST_WAIT) return;
    needed = before;
    pause = 1;
  });
}
