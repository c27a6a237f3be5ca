// Deletes what has expired, now and then and a little at a time: requests are answered in between.
import { systemClock, type Clock } from '../runtime/clock.ts';
import type { VaultStore } from '../storage/ports.ts';
import type { Logger } from '../telemetry/log.ts';

const PURGE_MS = 600_000;
/** Between two portions of what has expired. */
const PAUSE_MS = 20;
const DAY_MS = 24 * 3_600_000;

/** Deletes a bounded number of what has expired by a time in Unix milliseconds; returns how many. */
type Purgeable = Pick<VaultStore, 'purge'>;

export interface PurgeOptions {
  readonly stores: readonly Purgeable[];
  /** False once the gateway stops. */
  readonly goesOn: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Begins. @returns what stops it */
export function purgeExpired({ stores, goesOn, clock, log }: PurgeOptions): () => void {
  return clock.every(PURGE_MS, () => {
    for (const store of stores)
      purgeAll(store, clock.now(), goesOn).catch((error: unknown) =>
        log.warn('what has expired could not be deleted', { error }),
      );
  });
}

/** What expires by its age. @param days asked each time, since a reload may change it; 0: never */
export function olderThan(store: Purgeable, days: () => number): Purgeable {
  return {
    purge: (nowMs) => (days() === 0 ? Promise.resolve(0) : store.purge(nowMs - days() * DAY_MS)),
  };
}

async function purgeAll(store: Purgeable, nowMs: number, goesOn: () => boolean): Promise<void> {
  const breathe = (): Promise<void> => new Promise((resolve) => systemClock.after(PAUSE_MS, resolve));
  while (goesOn() && (await store.purge(nowMs)) > 0) await breathe();
}
