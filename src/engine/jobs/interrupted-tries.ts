// Decides about tries of killed replicas. Their marks are in the data directory of the replica, so the process that runs
// with it now reads them. A try counts as sent if no such process runs in time.
import type { InterruptedTryStore, Storage } from '../../accounts/ports/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import { charge, type InterruptedTry, stateOf } from './interrupted.ts';

const LOOK_MS = 5_000;
/** Maximum tries per query. */
const MOST_TRIES = 1_000;
/** Milliseconds for which a try waits. A replica that starts later, or never, has lost its data directory or its machine. */
const WAIT_MS = 600_000;

export interface InterruptedTriesOptions {
  readonly tries: InterruptedTryStore;
  readonly storage: Pick<Storage, 'ledger' | 'marks'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Starts deciding about tries. @returns a function that stops it */
export function decideInterruptedTries({ tries, storage, clock, log }: InterruptedTriesOptions): () => void {
  let isDeciding = false;
  const look = async (): Promise<void> => {
    if (isDeciding) return;
    isDeciding = true;
    try {
      await decideAll(tries, storage);
    } catch (error) {
      // The next look retries.
      log.warn('usage of killed replicas could not be recorded', { error });
    } finally {
      isDeciding = false;
    }
  };
  return clock.every(LOOK_MS, () => void look());
}

async function decideAll(
  tries: InterruptedTryStore,
  { ledger, marks }: InterruptedTriesOptions['storage'],
): Promise<void> {
  const decided: string[] = [];
  for (const { recordId, detail, ageMs } of await tries.list(MOST_TRIES)) {
    const tried = JSON.parse(detail) as InterruptedTry;
    const state = stateOf(tried, marks);
    if (state === 'elsewhere' && ageMs < WAIT_MS) continue;
    if (state !== 'unsent' && !(await ledger.find(recordId, tried.record.generation.projectId)))
      charge(tried, ledger);
    decided.push(recordId);
  }
  if (decided.length === 0) return;
  await ledger.confirmed();
  await tries.delete(decided);
}
