// Writes what a request was and cost: once, when its outcome is known and before its client hears of the end; and tells
// whoever watches.
import { refusalStatus } from '../answer/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { hasFailed } from './has-failed.ts';
import { spentOf } from './spent.ts';
import { generationRecord, type Outcome, recordedTimes } from './generation-record.ts';

/**
 * Appends the records: they survive the death of the process when it returns. Never throws.
 * @param opened true when the client has the head of an answer already
 */
export function settle(
  outcome: Outcome,
  opened: boolean,
  {
    ledger,
    clock,
    log,
    endUsers,
    observer,
  }: Pick<GatewayDependencies, 'ledger' | 'clock' | 'log' | 'endUsers' | 'observer'>,
): void {
  const { failure, request, arrival, attemptLog } = outcome;
  const status = outcome.cancelled ? 499 : failure && !opened ? refusalStatus(outcome, failure) : 200;
  const endUser = endUsers.hashOf(arrival.call.principal.projectId, request?.endUser);
  const inTime = recordedTimes(arrival);
  const record = inTime(generationRecord(outcome, endUser, status, clock.now()));
  const attempts = attemptLog.attempts.map((attempt) => inTime(attempt.record()));
  let unrecorded: unknown;
  try {
    ledger.append(record, attempts);
  } catch (error) {
    unrecorded = error;
    // An answer is worth more to its reader than its record to us; the log keeps what the ledger refused.
    const { content: _, ...facts } = record;
    log.error('a generation could not be recorded', { record: facts, error });
  }
  arrival.call.job?.recorded(record);
  arrival.call.recorder?.settled(record, hasFailed(attemptLog, failure));
  arrival.quota?.settle(spentOf(record));
  observer.settled({
    generation: record,
    attempts,
    models: attemptLog.attempts.map(({ endpoint }) => endpoint.modelId),
    toolRuns: attemptLog.toolRuns.map((run) => inTime(run)),
    principal: arrival.call.principal,
    trace: arrival.trace,
    unrecorded,
  });
}
