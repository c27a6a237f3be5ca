// Failure table: the action for each failure of an attempt before its first content.
import type { ErrorKind, GatewayError } from '../canonical/index.ts';
import type { DurationMs } from '../base/units.ts';

/**
 * `retry`: the same endpoint again, then the next. `next`: the next endpoint immediately. `larger-context`: the next
 * with a larger context. `other-model`: the next endpoint of another model. `return`: the caller's error, which no
 * endpoint can avoid.
 */
export type FailureAction = 'retry' | 'next' | 'larger-context' | 'other-model' | 'return';

interface FailureRule {
  readonly action: FailureAction;
  /** True: the failure counts against the endpoint's health. */
  readonly endpointsFault: boolean;
}

/** `docs/reliability.md` shows this table. */
export const FAILURE_RULES: Readonly<Record<ErrorKind, FailureRule>> = {
  invalid_request: { action: 'return', endpointsFault: false },
  unsupported: { action: 'next', endpointsFault: false },
  authentication: { action: 'next', endpointsFault: true },
  permission: { action: 'next', endpointsFault: true },
  not_found: { action: 'next', endpointsFault: true },
  conflict: { action: 'retry', endpointsFault: true },
  too_large: { action: 'return', endpointsFault: false },
  rate_limited: { action: 'retry', endpointsFault: true },
  quota: { action: 'next', endpointsFault: true },
  context_overflow: { action: 'larger-context', endpointsFault: false },
  content_filter: { action: 'other-model', endpointsFault: false },
  // The tool's server is the same for every endpoint.
  tool_unavailable: { action: 'return', endpointsFault: false },
  upstream_unavailable: { action: 'retry', endpointsFault: true },
  // An endpoint that timed out is not retried.
  timeout: { action: 'next', endpointsFault: true },
  cancelled: { action: 'return', endpointsFault: false },
  internal: { action: 'return', endpointsFault: false },
};

/** Longest wait before a retry. If a server asks for more, the next endpoint is tried. */
const MAX_WAIT_MS = 5_000;
const BASE_WAIT_MS = 250;

/** Error code of a charged answer without content. The same endpoint would answer the same again. */
export const EMPTY_ANSWER = 'empty_answer';

/** True when the gateway itself refused the request: no endpoint could do better, and none is to blame. */
export function isOwnRefusal({ fault, kind }: GatewayError): boolean {
  return fault === 'gateway' && kind !== 'internal';
}

export function actionFor(error: GatewayError): FailureAction {
  if (isOwnRefusal(error)) return 'return';
  if (error.code === EMPTY_ANSWER) return 'next';
  return FAILURE_RULES[error.kind].action;
}

/** True when the failure says something about the endpoint rather than only this request. */
export function isEndpointsFault(error: GatewayError): boolean {
  return !isOwnRefusal(error) && FAILURE_RULES[error.kind].endpointsFault;
}

/** True when the upstream asks for a longer wait than the gateway's own. */
export function asksLongerWait({ retryAfterMs }: GatewayError): boolean {
  return retryAfterMs !== undefined && retryAfterMs > MAX_WAIT_MS;
}

/**
 * Delay before the same endpoint is tried again.
 * @param retry 0 for the first retry
 * @param random a number in [0, 1)
 * @returns milliseconds; null when the upstream asked for a longer delay than `MAX_WAIT_MS`
 */
export function retryDelayMs(error: GatewayError, retry: number, random: number): DurationMs | null {
  if (asksLongerWait(error)) return null;
  if (error.retryAfterMs !== undefined) return error.retryAfterMs;
  // Jitter over the upper half, so that clients that failed together do not return together.
  return Math.min(MAX_WAIT_MS, BASE_WAIT_MS * 2 ** retry) * (0.5 + random / 2);
}
