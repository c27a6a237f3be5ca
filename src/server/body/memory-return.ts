// Gives memory back after a burst. The runtime collects when it needs room, which may be never: what a burst left would be
// held for as long as nobody asks for more. Decides when; knows neither the collector nor what was held.
import type { Clock } from '../../base/runtime/clock.ts';

export interface MemoryReturnOptions {
  readonly clock: Clock;
  readonly residentBytes: () => number;
  /** Time for which this process has used the processor, in milliseconds. */
  readonly usedMs: () => number;
  /** Collects at once. It stops the process for some tens of milliseconds. */
  readonly collect: () => void;
}

const LOOK_MS = 1_000;
const MIB = 1_048_576;
/** More than what was needed last time, in bytes: less is not worth the pause. */
const WORTH_BYTES = 48 * MIB;
/** Growth between two looks, in bytes, above which the burst goes on. */
const STILL_BYTES = 16 * MIB;

/**
 * Use of the processor between two looks, in milliseconds, above which a pause would be felt by many: a hundred streams take
 * a third of it, and fill as much in a second as a collection took out.
 */
const CALM_MS = 100;
/** Looks after a collection that was worth it: what comes back at once is needed. */
const REST = 10;
/** Looks between two collections that brought nothing, which doubles up to this; then what is there counts as needed. */
const LONGEST_WAIT = 32;

/** Starts to watch. @returns what ends it */
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
    const isBusy = used - usedBefore > CALM_MS;
    before = now;
    usedBefore = used;
    needed = Math.min(needed, now);
    wait -= 1;
    if (now - needed <= WORTH_BYTES) pause = 1;
    if (grows || isBusy || wait > 0 || now - needed <= WORTH_BYTES) return;
    collect();
    before = residentBytes();
    if (before - needed <= WORTH_BYTES) {
      wait = REST;
      return;
    }
    // Somebody may still hold it, for a while or for good.
    pause *= 2;
    wait = pause;
    if (pause <= LONGEST_WAIT) return;
    needed = before;
    pause = 1;
  });
}
