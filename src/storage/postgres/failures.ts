// Classifies database errors: unreachable, retryable, or a bug. The only file with PostgreSQL's error codes (PostgreSQL
// 16, Appendix A, 2026-11). Reports only codes, because messages contain values.
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import { databaseAway } from '../database-away.ts';
import { errorCode } from '../../base/lib/errors.ts';

/**
 * Codes of a server that cannot serve at the moment: connection errors (08), too many connections (53300), out of disk
 * or memory (53), stopping or starting (57P), statement timeout (57014), lock timeout (55P03), and a standby that is
 * read-only after a failover (25006).
 */
const UNAVAILABLE = /^(08...|53...|57P0[1-5]|57014|55P03|25006)$/;
/** Rejected password, unknown role or database. Also happens while an operator changes the server. */
const REFUSED = /^(28...|3D000)$/;
/** Transactions that failed because of another one, without any effect. */
const REPEATABLE: ReadonlySet<string> = new Set(['40001', '40P01']);

/** Translates a database error. Errors without a known code are returned unchanged. */
export function explained(error: unknown): unknown {
  if (GatewayError.is(error)) return error;
  const code = errorCode(error);
  // A broken connection has a system code such as ECONNREFUSED, or no code if reported by the driver.
  if (code === undefined || !/^[0-9A-Z]{5}$/.test(code)) return databaseAway(code ?? lossOf(error), error);
  if (UNAVAILABLE.test(code) || REFUSED.test(code)) return databaseAway(code, error);
  return error;
}

/** True if the server itself reported the error, so that it is reachable and the connection still usable. */
export function isAnswer(error: unknown): boolean {
  return error instanceof Error && 'severity' in error && error.severity === 'ERROR';
}

/** Reason of an error of the driver itself. */
function lossOf(error: unknown): string {
  const isLate = error instanceof Error && error.message === 'Query read timeout';
  return isLate ? 'it does not respond' : TEXTS.connectionBroke;
}

/** True if the whole transaction can be retried. */
export function isRepeatable(error: unknown): boolean {
  const code = errorCode(error);
  return code !== undefined && REPEATABLE.has(code);
}

/** True if the server understood the statement but rejects its values, which is permanent. */
export function isRefusedValue(error: unknown): boolean {
  return /^2[23]/.test(errorCode(error) ?? '');
}

/** True for a division by zero, which statements use to roll themselves back. */
export function isRolledBack(error: unknown): boolean {
  return errorCode(error) === '22012';
}
