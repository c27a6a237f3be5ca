// Records what tries of a job had cost whose process died with them: their upstreams charge it all the same. The record's id is
// that of the try, so that it stands in the ledger once, whoever writes it.
import { NO_USAGE } from '../../canonical/index.ts';
import type { HeldJob, JobStep, LedgerStore, RunningRecord } from '../../accounts/ports/index.ts';
import { costOf } from '../../accounts/ledger/index.ts';
import type { Price } from '../../catalog/index.ts';
import { recordIdOf } from './response-job.ts';

/** Begins the names of steps that say who was asked. */
export const ASKED_STEP = 'asked:';

/** @param steps of the job */
export async function settleInterrupted(
  { attempt, projectId }: HeldJob,
  id: string,
  steps: readonly JobStep[],
  ledger: LedgerStore,
): Promise<void> {
  for (const { name, detail } of steps) {
    const of = name.startsWith(ASKED_STEP) ? Number(name.slice(ASKED_STEP.length)) : attempt;
    if (of >= attempt || (await ledger.find(recordIdOf(id, of), projectId))) continue;
    settleTry(JSON.parse(detail) as InterruptedTry, ledger);
  }
}

/** A request whose upstream was asked, as it was known then. */
export interface InterruptedTry {
  readonly record: RunningRecord;
  readonly price: Price | null;
}

/** Records a request that nobody else can record any more. */
export function settleTry({ record, price }: InterruptedTry, ledger: Pick<LedgerStore, 'append'>): void {
  const { generation, attempt, inputTokens } = record;
  // Its prompt was read; how much was written, nobody knows any more.
  const usage = { ...NO_USAGE, input: { ...NO_USAGE.input, uncached: inputTokens }, estimated: true };
  const charged = { usage, cost: costOf(usage, price) };
  ledger.append({ ...generation, ...charged }, [{ ...attempt, ...charged }]);
}
