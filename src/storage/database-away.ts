// Error for an unreachable database: a 503, and the only database failure that stores handle.
import { GatewayError } from '../canonical/index.ts';

/** Milliseconds after which a client should retry. */
const RETRY_AFTER_MS = 5_000;

/** Error for a database that is unreachable, not ready or too slow. */
export function databaseAway(reason: string, cause?: unknown): GatewayError {
  return new GatewayError(
    'upstream_unavailable',
    `The database is unreachable (${reason}). Stored data cannot be read or written now. Try again.`,
    { code: 'database_unavailable', httpStatus: 503, fault: 'gateway', retryAfterMs: RETRY_AFTER_MS, cause },
  );
}

/** True for errors from `databaseAway`. */
export function isAway(error: unknown): boolean {
  return GatewayError.is(error) && error.code === 'database_unavailable';
}
