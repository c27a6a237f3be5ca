// The database is out of reach: a 503, and the only failure of a database that its stores know.
import { GatewayError } from '../canonical/index.ts';

/** Time that a client should wait before it asks again what needs the database. */
const RETRY_AFTER_MS = 5_000;

/** The database cannot be reached, is not ready, or takes too long: a 503, and nobody's mistake. */
export function databaseAway(reason: string, cause?: unknown): GatewayError {
  return new GatewayError(
    'upstream_unavailable',
    `the database is out of reach (${reason}): what is stored cannot be read or written now, try again`,
    { code: 'database_unavailable', httpStatus: 503, fault: 'gateway', retryAfterMs: RETRY_AFTER_MS, cause },
  );
}

/** True for what `databaseAway` made. */
export function isAway(error: unknown): boolean {
  return GatewayError.is(error) && error.code === 'database_unavailable';
}
