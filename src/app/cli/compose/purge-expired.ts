// Deletes expired data periodically in small portions, so that requests are not delayed.
import { systemClock, type Clock } from '../../../base/runtime/clock.ts';
import type { Storage, VaultStore } from '../../../accounts/ports/index.ts';
import type { Logger } from '../../../base/telemetry/log.ts';
import type { UnixMs } from '../../../base/units.ts';

const PURGE_MS = 600_000;
/** Delay after the start, which is busy, in milliseconds. */
const FIRST_MS = 1_000;
/** Pause between two portions. */
const PAUSE_MS = 20;
const DAY_MS = 24 * 3_600_000;

/** Deletes a bounded number of entries expired at a time in Unix milliseconds; returns how many. */
type Purgeable = Pick<VaultStore, 'purge'>;

export interface PurgeOptions {
  readonly stores: readonly Purgeable[];
  /** False once the gateway stops. */
  readonly isRunning: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Starts purging. @returns a function that stops it */
export function purgeExpired({ stores, isRunning, clock, log }: PurgeOptions): () => void {
  const running = new Set<Purgeable>();
  /** Stores that became due while the previous purge was running, because that may take longer than the interval. */
  const due = new Set<Purgeable>();
  const purgeOne = (store: Purgeable): void => {
    if (running.has(store)) return void due.add(store);
    running.add(store);
    purgeAll(store, clock.wall(), isRunning)
      .catch((error: unknown) => log.warn('expired data could not be deleted', { error }))
      .finally(() => {
        running.delete(store);
        if (due.delete(store) && isRunning()) purgeOne(store);
      });
  };
  const purge = (): void => stores.forEach(purgeOne);
  const stopFirst = clock.after(FIRST_MS, purge);
  const stopOthers = clock.every(PURGE_MS, purge);
  return () => {
    stopFirst();
    stopOthers();
  };
}

interface Days {
  readonly audit: { readonly retentionDays: number };
  readonly ledger: { readonly retentionDays: number; readonly usageDays: number };
  readonly logging: { readonly contentDays: number };
}

type Stores = Pick<
  Storage,
  'audit' | 'batches' | 'conversations' | 'jobs' | 'ledger' | 'payloads' | 'responses' | 'usage' | 'vault'
>;

/** All periodic deletions. @param config read each time */
export function allPurges(
  { audit, batches, conversations, jobs, ledger, payloads, responses, usage, vault }: Stores,
  files: Purgeable,
  config: () => Days,
): Purgeable[] {
  return [
    vault,
    responses,
    conversations,
    jobs,
    batches,
    files,
    olderThan(audit, () => config().audit.retentionDays),
    { purge: async (nowMs) => ((await usage.maintain(nowMs)) ? 1 : 0) },
    olderThan({ purge: (beforeMs) => ledger.purgeContents(beforeMs) }, () => config().logging.contentDays),
    // Logged content is not kept longer than its record.
    olderThan(payloads, () => config().logging.contentDays),
    olderThan(payloads, () => config().ledger.retentionDays),
    olderThan(ledger, () => config().ledger.retentionDays),
    olderThan(usage, () => config().ledger.usageDays),
  ];
}

/** Entries that expire by age. @param days read each time, because a reload may change it; 0: never */
function olderThan(store: Purgeable, days: () => number): Purgeable {
  return {
    purge: (nowMs) => (days() === 0 ? Promise.resolve(0) : store.purge(nowMs - days() * DAY_MS)),
  };
}

async function purgeAll(store: Purgeable, nowMs: UnixMs, isRunning: () => boolean): Promise<void> {
  const pause = (): Promise<void> => new Promise((resolve) => systemClock.after(PAUSE_MS, resolve));
  while (isRunning() && (await store.purge(nowMs)) > 0) await pause();
}
