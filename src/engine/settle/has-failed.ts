// Definition of a failure where only failures are kept.
import type { GatewayError } from '../../canonical/index.ts';
import type { AttemptLog } from '../attempt-log.ts';

/** True where a request failed, or a try of it did. A client that leaves is no failure. */
export function hasFailed({ attempts }: Pick<AttemptLog, 'attempts'>, failure?: GatewayError): boolean {
  return counts(failure) || attempts.some((attempt) => counts(attempt.failure));
}

function counts(failure: GatewayError | undefined): boolean {
  return failure !== undefined && failure.kind !== 'cancelled';
}
