// Encodes errors for Google's clients (google.rpc.Status in JSON), with Google's own statuses.
import type { JsonObject } from '../../base/json/index.ts';
import type { ErrorKind, GatewayError } from '../../canonical/index.ts';

/** Names of google.rpc.Code by kind. */
const STATUSES: Readonly<Record<ErrorKind, string>> = {
  invalid_request: 'INVALID_ARGUMENT',
  unsupported: 'INVALID_ARGUMENT',
  authentication: 'UNAUTHENTICATED',
  permission: 'PERMISSION_DENIED',
  not_found: 'NOT_FOUND',
  conflict: 'ABORTED',
  too_large: 'INVALID_ARGUMENT',
  rate_limited: 'RESOURCE_EXHAUSTED',
  quota: 'RESOURCE_EXHAUSTED',
  context_overflow: 'INVALID_ARGUMENT',
  content_filter: 'INVALID_ARGUMENT',
  tool_unavailable: 'FAILED_PRECONDITION',
  upstream_unavailable: 'UNAVAILABLE',
  timeout: 'DEADLINE_EXCEEDED',
  cancelled: 'CANCELLED',
  internal: 'INTERNAL',
};
/** HTTP statuses of these names (google/rpc/code.proto), where they differ from those of the kinds. */
const CODES: Partial<Readonly<Record<ErrorKind, number>>> = { quota: 429, upstream_unavailable: 503 };
const TYPES = 'type.googleapis.com/google.rpc.';

/**
 * Returns `{"error":{code, message, status, details}}`, the body of an error answer and of an error frame in a stream.
 * The details are Google's own (google.rpc, error_details): the member, the delay, a machine-readable reason, the
 * request id.
 */
export function encodeErrorBody(error: GatewayError, requestId: string): JsonObject {
  const { param, retryAfterMs, code, message } = error;
  const details: JsonObject[] = [{ '@type': `${TYPES}RequestInfo`, requestId }];
  if (param !== undefined)
    details.push({
      '@type': `${TYPES}BadRequest`,
      fieldViolations: [{ field: param, description: message }],
    });
  if (code !== undefined) details.push({ '@type': `${TYPES}ErrorInfo`, reason: code, domain: 'dragoman' });
  if (retryAfterMs !== undefined)
    details.push({ '@type': `${TYPES}RetryInfo`, retryDelay: `${retryAfterMs / 1000}s` });
  return { error: { code: statusOf(error), message, status: STATUSES[error.kind], details } };
}

/** Returns status and body of an error answer. */
export function encodeError(
  error: GatewayError,
  requestId: string,
): { readonly status: number; readonly body: JsonObject } {
  return { status: statusOf(error), body: encodeErrorBody(error, requestId) };
}

function statusOf({ kind, status }: GatewayError): number {
  return CODES[kind] ?? status;
}
