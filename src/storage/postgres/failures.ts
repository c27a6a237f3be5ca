// Meaning of a failure of the database: it is away, it wants to be asked again, or the program is wrong. The one place that
// knows PostgreSQL's codes (PostgreSQL 16, Appendix A, 2026-11). Never says more than a code: messages hold values.
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import { databaseAway } from '../database-away.ts';

/**
 * Codes of a server that does not serve now: connections (08), no more of them (53300), out of disk or memory (53), stopping
 * or starting (57P), a statement that took too long (57014), a lock that nobody gave (55P03), and a standby that takes no
 * writes after a change of roles (25006).
 */
const AWAY = /^(08...|53...|57P0[1-5]|57014|55P03|25006)$/;
/** A password that is not accepted, an unknown role or database: also what a server says whose operator is changing it. */
const REFUSED = /^(28...|3D000)$/;
/** Transactions that another one was in the way of. Nothing of them was done. */
const REPEATABLE: ReadonlySet<string> = new Set(['40001', '40P01']);

/** The same failure as others understand it; what no code explains stays as it is. */
export function explained(error: unknown): unknown {
  if (GatewayError.is(error)) return error;
  const code = codeOf(error);
  // A connection that breaks has a code of the system (ECONNREFUSED), or of the driver none at all.
  if (code === undefined || !/^[0-9A-Z]{5}$/.test(code))
    return databaseAway(code ?? TEXTS.connectionBroke, error);
  if (AWAY.test(code) || REFUSED.test(code)) return databaseAway(code, error);
  return error;
}

/** Whether a transaction may be tried once more as a whole. */
export function isRepeatable(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && REPEATABLE.has(code);
}

/** Whether the server understood a statement and cannot keep its values: it never will. */
export function isRefusedValue(error: unknown): boolean {
  return /^2[23]/.test(codeOf(error) ?? '');
}

/** Whether a statement ended because it divided by nothing: how one takes itself back as a whole. */
export function isTakenBack(error: unknown): boolean {
  return codeOf(error) === '22012';
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
