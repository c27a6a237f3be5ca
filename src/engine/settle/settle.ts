// Writes what a request was and cost: once, when its outcome is known and before its client hears of the end; and tells
// whoever watches.
import { refusalStatus } from '../answer/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { hasFailed } from './has-failed.ts';
import { spentOf } from './spent.ts';
import { generationRecord, type Outcome } from './generation-record.ts';

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
  const { failure, request, arrival, trail } = outcome;
  const status = outcome.cancelled ? 499 : failure && !opened ? refusalStatus(outcome, failure) : 200;
  const endUser = endUsers.hashOf(arrival.call.principal.projectId, request?.endUser);
  const record = generationRecord(outcome, endUser, status, clock.now());
  const attempts = trail.attempts.map((attempt) => attempt.record());
  let unrecorded: unknown;
  try {
    ledger.append(record, attempts);
  } catch (error) {
    unrecorded = error;
    // An answer is worth more to its reader than its record to us; the log keeps what the ledger refused.
    const { content: _, ...facts } = record;
    log.error('a generation could not be recorded', { record: facts, error });
  }
  arrival.call.tape?.settled(record, hasFailed(trail, failure));
  arrival.allowance?.settle(spentOf(record));
  observer.settled({
    generation: record,
    attempts,
    models: trail.attempts.map(({ endpoint }) => endpoint.modelId),
    toolRuns: trail.toolRuns,
    principal: arrival.call.principal,
    trace: arrival.trace,
    unrecorded,
  });
}
