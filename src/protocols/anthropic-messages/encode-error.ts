// Errors as Messages clients know them. Owns the words; statuses are the kinds' own, except that an overloaded
// upstream stays overloaded.
import type { ErrorKind, GatewayError, JsonObject } from '../../canonical/index.ts';
import type { WireErrorType } from './wire-types.ts';

/** Anthropic's types (API reference "Errors", 2026-11). */
const TYPES: Readonly<Record<ErrorKind, WireErrorType>> = {
  invalid_request: 'invalid_request_error',
  unsupported: 'invalid_request_error',
  authentication: 'authentication_error',
  permission: 'permission_error',
  not_found: 'not_found_error',
  conflict: 'conflict_error',
  too_large: 'request_too_large',
  rate_limited: 'rate_limit_error',
  quota: 'billing_error',
  context_overflow: 'invalid_request_error',
  content_filter: 'invalid_request_error',
  upstream_unavailable: 'api_error',
  timeout: 'timeout_error',
  cancelled: 'api_error',
  internal: 'api_error',
};

const OVERLOADED = 529;
/** Agents shorten their history when they read these words of Anthropic's. */
const TOO_LONG = 'prompt is too long';

/** `{"type":"error","error":{type, message},"request_id"}`: the body of an error answer, and of an error event. */
export function encodeErrorBody(error: GatewayError, requestId: string): JsonObject {
  const type = isOverloaded(error) ? 'overloaded_error' : TYPES[error.kind];
  const isTold = error.kind !== 'context_overflow' || error.message.toLowerCase().includes(TOO_LONG);
  const message = isTold ? named(error) : `${TOO_LONG}: ${error.message}`;
  return { type: 'error', error: { type, message }, request_id: requestId };
}

/** Status and body of an error answer. */
export function encodeError(
  error: GatewayError,
  requestId: string,
): { readonly status: number; readonly body: JsonObject } {
  return {
    status: isOverloaded(error) ? OVERLOADED : error.status,
    body: encodeErrorBody(error, requestId),
  };
}

/** The body has no member for the place of a mistake: Anthropic names it in front of its words, and so do we. */
function named({ message, param, upstream }: GatewayError): string {
  return param === undefined || upstream || message.includes(param) ? message : `${param}: ${message}`;
}

function isOverloaded(error: GatewayError): boolean {
  return error.kind === 'upstream_unavailable' && error.upstream?.status === OVERLOADED;
}
