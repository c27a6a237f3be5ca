// Action for each failure of an attempt before its first content: the one table.
import type { ErrorKind, GatewayError } from '../canonical/index.ts';
import type { DurationMs } from '../base/units.ts';

/**
 * `retry`: the same endpoint again, then the next. `next`: the next endpoint at once. `larger-context`: the next with
 * a larger context. `other-model`: the next endpoint of another model. `return`: the caller's own mistake, which
 * nobody can mend.
 */
export type FailureAction = 'retry' | 'next' | 'larger-context' | 'other-model' | 'return';

interface FailureRule {
  readonly action: FailureAction;
  /** True: it counts against the endpoint's health. */
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
  // Whichever endpoint is asked, the server is the same.
  tool_unavailable: { action: 'return', endpointsFault: false },
  upstream_unavailable: { action: 'retry', endpointsFault: true },
  // A silent endpoint is not tried twice.
  timeout: { action: 'next', endpointsFault: true },
  cancelled: { action: 'return', endpointsFault: false },
  internal: { action: 'return', endpointsFault: false },
};

/** Longest wait before a retry. A server that asks for more gets the next endpoint instead. */
const MAX_WAIT_MS = 5_000;
const BASE_WAIT_MS = 250;

/** The code of an answer that was charged and says nothing: the same endpoint would say the same again. */
export const EMPTY_ANSWER = 'empty_answer';

/** True when the gateway itself has no room: no endpoint could do better, and none is to blame. */
export function isOwnRefusal({ fault, kind }: GatewayError): boolean {
  return fault === 'gateway' && kind !== 'internal';
}

/** Action after this failure. */
export function actionFor(error: GatewayError): FailureAction {
  if (isOwnRefusal(error)) return 'return';
  if (error.code === EMPTY_ANSWER) return 'next';
  return FAILURE_RULES[error.kind].action;
}

/** True when the failure says something about the endpoint, and not only about this request. */
export function isEndpointsFault(error: GatewayError): boolean {
  return !isOwnRefusal(error) && FAILURE_RULES[error.kind].endpointsFault;
}

/**
 * How long to wait before trying the same endpoint again.
 * @param retry 0 for the first retry
 * @param random a number in [0, 1)
 * @returns milliseconds; null when the upstream asked for a longer pause than is worth waiting
 */
export function retryDelayMs(error: GatewayError, retry: number, random: number): DurationMs | null {
  if (error.retryAfterMs !== undefined) return error.retryAfterMs <= MAX_WAIT_MS ? error.retryAfterMs : null;
  // Full jitter over the upper half, so that clients that failed together do not return together.
  return Math.min(MAX_WAIT_MS, BASE_WAIT_MS * 2 ** retry) * (0.5 + random / 2);
}
