// What to do when an attempt fails before its first content: the one table.
import type { ErrorKind, GatewayError } from '../canonical/index.ts';

/**
 * `retry`: the same endpoint again, then the next. `next`: the next endpoint at once. `return`: the caller's own
 * mistake, which no endpoint can mend.
 */
export type FailureAction = 'retry' | 'next' | 'return';

const BY_KIND: Readonly<Record<ErrorKind, FailureAction>> = {
  invalid_request: 'return',
  unsupported: 'next',
  authentication: 'next',
  permission: 'next',
  not_found: 'next',
  conflict: 'retry',
  too_large: 'return',
  rate_limited: 'retry',
  quota: 'next',
  context_overflow: 'return',
  content_filter: 'return',
  upstream_unavailable: 'retry',
  // A silent endpoint is not tried twice.
  timeout: 'next',
  cancelled: 'return',
  internal: 'return',
};

/** Longest wait before a retry. A server that asks for more gets the next endpoint instead. */
const MAX_WAIT_MS = 5_000;
const BASE_WAIT_MS = 250;

/** What to do after this failure. */
export function actionFor(error: GatewayError): FailureAction {
  return BY_KIND[error.kind];
}

/**
 * How long to wait before trying the same endpoint again.
 * @param retry 0 for the first retry
 * @param random a number in [0, 1)
 * @returns milliseconds; null when the upstream asked for a longer pause than is worth waiting
 */
export function retryDelayMs(error: GatewayError, retry: number, random: number): number | null {
  if (error.retryAfterMs !== undefined) return error.retryAfterMs <= MAX_WAIT_MS ? error.retryAfterMs : null;
  // Full jitter over the upper half, so that clients that failed together do not return together.
  return Math.min(MAX_WAIT_MS, BASE_WAIT_MS * 2 ** retry) * (0.5 + random / 2);
}
