// Completes a request once its outcome is known and before the client receives the end: writes its records, settles its
// quota and notifies observers.
import { refusalStatus } from '../answer/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { inputTokens, outputTokens } from '../../canonical/index.ts';
import { countedRequests, type GenerationRecord } from '../../accounts/ledger/index.ts';
import { nanoUsdOf, type Spent } from '../../accounts/limits/index.ts';
import { generationRecord, hasFailed, type Outcome, recordedTimes } from './generation-record.ts';

/** Appends the records durably. Never throws. @param opened true: the client already has the head of an answer */
export function recordRequest(
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
    // The answer is still delivered; the log keeps what the ledger refused.
    const { content: _, ...facts } = record;
    log.error('a generation could not be recorded', { record: facts, error });
  }
  arrival.call.job?.recorded(record);
  arrival.call.recorder?.settled(record, hasFailed(attemptLog, failure));
  arrival.quota?.settle(spentOf(record));
  observer.finished({
    generation: record,
    attempts,
    models: attemptLog.attempts.map(({ endpoint }) => endpoint.modelId),
    toolRuns: attemptLog.toolRuns.map((run) => inTime(run)),
    principal: arrival.call.principal,
    trace: arrival.trace,
    unrecorded,
  });
}

/** Usage that counts against limits, from the record, so that limits and ledger agree. */
function spentOf({
  usage,
  cost,
  error,
  turns,
}: Pick<GenerationRecord, 'usage' | 'cost' | 'error' | 'turns'>): Spent {
  return {
    requests: countedRequests({ turns, failed: error !== null, isCharged: usage !== null || cost !== null }),
    tokens: usage ? inputTokens(usage) + outputTokens(usage) : 0,
    nanoUsd: cost ? cost.usd && nanoUsdOf(cost.usd) : 0,
  };
}
