// Writes what a request was and cost: once, when its outcome is known and before its client hears of the end.
import type { GatewayError } from '../../canonical/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { Generation } from '../generation.ts';
import { refusalStatus } from '../answer/index.ts';

/**
 * Appends the records: they survive the death of the process when it returns. Never throws.
 * @param error the failure of the request; undefined when it was answered
 * @param opened true when the client has the head of an answer already
 */
export function settle(
  generation: Generation,
  error: GatewayError | undefined,
  opened: boolean,
  { ledger, clock, log }: Pick<GatewayDependencies, 'ledger' | 'clock' | 'log'>,
): void {
  const status = generation.cancelled ? 499 : error && !opened ? refusalStatus(generation, error) : 200;
  const record = generation.record(status, clock.now(), error);
  try {
    ledger.append(
      record,
      generation.attempts.map((attempt) => attempt.record()),
    );
  } catch (failure) {
    // An answer is worth more to its reader than its record to us; the log keeps what the ledger refused.
    const { content: _, ...facts } = record;
    log.error('a generation could not be recorded', { record: facts, error: failure });
  }
}
