// Summary of an error for records.
import type { GatewayError } from '../../canonical/index.ts';
import type { ErrorSummary } from '../../accounts/ledger/index.ts';

/** The error without its bytes and its stack. */
export function summariseError(error: GatewayError): ErrorSummary {
  return { kind: error.kind, message: error.message, upstreamStatus: error.upstream?.status ?? null };
}
