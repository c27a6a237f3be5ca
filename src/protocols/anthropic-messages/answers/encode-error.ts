// Encodes errors for Messages clients, with Anthropic's types and statuses.
import type { JsonObject } from '../../../base/json/index.ts';
import type { ErrorKind, GatewayError } from '../../../canonical/index.ts';
import { isOverloaded } from '../../../canonical/index.ts';
import type { WireErrorType } from '../wire-types.ts';

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
  tool_unavailable: 'invalid_request_error',
  upstream_unavailable: 'api_error',
  timeout: 'timeout_error',
  cancelled: 'api_error',
  internal: 'api_error',
};

/** Statuses of `overloaded_error` and `api_error`, from the same page. Each of these types has only one status. */
const OVERLOADED = 529;
const API_ERROR = 500;
/** Agents shorten their history when they read these words. */
const TOO_LONG = 'prompt is too long';

/**
 * Returns `{"type":"error","error":{type, message, details},"request_id"}`, the body of an error answer and of an error
 * event.
 */
export function encodeErrorBody(error: GatewayError, requestId: string): JsonObject {
  const type = isOverloaded(error) ? 'overloaded_error' : TYPES[error.kind];
  const isReported = error.kind !== 'context_overflow' || error.message.toLowerCase().includes(TOO_LONG);
  const message = isReported ? named(error) : `${TOO_LONG}: ${counted(error)}`;
  const { details } = error;
  return { type: 'error', error: { type, message, ...(details ? { details } : {}) }, request_id: requestId };
}

/** Returns Anthropic's wording with the token counts if the server sent both; otherwise the original message. */
function counted({ context, message }: GatewayError): string {
  if (context?.limit === undefined || context.prompt === undefined) return message;
  return `${context.prompt} tokens > ${context.limit} maximum`;
}

/** Returns status and body of an error answer. */
export function encodeError(
  error: GatewayError,
  requestId: string,
): { readonly status: number; readonly body: JsonObject } {
  return { status: statusOf(error), body: encodeErrorBody(error, requestId) };
}

function statusOf(error: GatewayError): number {
  if (error.kind !== 'upstream_unavailable') return error.status;
  return isOverloaded(error) ? OVERLOADED : API_ERROR;
}

/** Prefixes the message with the member's path, as Anthropic does: the body has no member for it. */
function named({ message, param, upstream }: GatewayError): string {
  return param === undefined || upstream || message.includes(param) ? message : `${param}: ${message}`;
}
