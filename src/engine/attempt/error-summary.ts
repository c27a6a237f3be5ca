// What a record keeps of an error.
import type { GatewayError } from '../../canonical/index.ts';
import type { ErrorSummary } from '../../ledger/index.ts';

/** The error without its bytes and its stack; null when there was none. */
export function summariseError(error: GatewayError | undefined): ErrorSummary | null {
  if (!error) return null;
  return { kind: error.kind, message: error.message, upstreamStatus: error.upstream?.status ?? null };
}
