// Anthropic's error bodies and error frames into the closed list of kinds. Does not decide what happens next.
import type { ErrorKind, Fault, JsonObject } from '../../canonical/index.ts';
import { asObject, asString, GatewayError, isCallersStatus, parseJson } from '../../canonical/index.ts';
import { retryAfterMs, shortMessage } from '../upstream-error.ts';
import type { WireErrorType } from './wire-types.ts';

interface ErrorClass {
  readonly kind: ErrorKind;
  readonly fault: Fault;
  /** The HTTP status that goes with the type: error frames in a stream carry none. */
  readonly status: number;
}

/** Types and statuses: API reference "Errors" (2026-11). A credentials problem is the operator's, not the client's. */
const TYPES: Readonly<Record<WireErrorType, ErrorClass>> = {
  invalid_request_error: { kind: 'invalid_request', fault: 'client', status: 400 },
  authentication_error: { kind: 'authentication', fault: 'upstream', status: 401 },
  billing_error: { kind: 'quota', fault: 'upstream', status: 402 },
  permission_error: { kind: 'permission', fault: 'upstream', status: 403 },
  not_found_error: { kind: 'not_found', fault: 'client', status: 404 },
  conflict_error: { kind: 'conflict', fault: 'client', status: 409 },
  request_too_large: { kind: 'too_large', fault: 'client', status: 413 },
  rate_limit_error: { kind: 'rate_limited', fault: 'upstream', status: 429 },
  timeout_error: { kind: 'timeout', fault: 'upstream', status: 504 },
  overloaded_error: { kind: 'upstream_unavailable', fault: 'upstream', status: 529 },
  api_error: { kind: 'upstream_unavailable', fault: 'upstream', status: 500 },
};

const CONTEXT_OVERFLOW =
  /prompt is too long|exceeds? (?:the |this )?(?:model'?s? )?(?:maximum )?context|context (?:limit|window|length)/i;
/** Said with `invalid_request_error` and status 400 when the account has no money left. */
const NO_CREDIT = /credit balance is too low|reached your specified (?:api|workspace api) usage limits/i;
const CONTENT_FILTER = /content filtering policy/i;

/**
 * The error of an HTTP answer with a failing status.
 * @param status HTTP status
 * @param header reads a response header by lower-case name
 * @param body the answer's text: normally `{"type":"error","error":{"type","message"},"request_id"}`
 */
export function decodeError(
  status: number,
  header: (name: string) => string | null,
  body: string,
): GatewayError {
  const error = asObject(asObject(parseJson(body))['error']);
  const message = asString(error['message']) ?? `the upstream answered with status ${status}`;
  const { kind, fault } = classify(asString(error['type']), message, status);
  return new GatewayError(kind, shortMessage(message), {
    fault,
    retryAfterMs: retryAfterMs(header),
    upstream: { status, contentType: header('content-type') ?? undefined, body },
  });
}

/**
 * The error of an `error` event in a stream, or of an error body that came with status 200.
 * @param frame the event's parsed data
 * @param data its text, kept as the upstream's own words
 */
export function decodeErrorFrame(frame: JsonObject, data: string): GatewayError {
  const error = asObject(frame['error']);
  const message = asString(error['message']) ?? 'the upstream reported an error in the stream';
  const { kind, fault, status } = classify(asString(error['type']), message, 500);
  return new GatewayError(kind, shortMessage(message), {
    fault,
    upstream: { status, contentType: 'application/json', body: data },
  });
}

function classify(type: string | undefined, message: string, status: number): ErrorClass {
  const known = type !== undefined && isKnownType(type) ? TYPES[type] : byStatus(status);
  if (known.kind === 'invalid_request' || known.kind === 'too_large') {
    if (CONTEXT_OVERFLOW.test(message))
      return { kind: 'context_overflow', fault: 'client', status: known.status };
    if (NO_CREDIT.test(message)) return { kind: 'quota', fault: 'upstream', status: known.status };
    if (CONTENT_FILTER.test(message))
      return { kind: 'content_filter', fault: 'client', status: known.status };
  }
  return known;
}

function isKnownType(type: string): type is WireErrorType {
  return Object.hasOwn(TYPES, type);
}

function byStatus(status: number): ErrorClass {
  for (const known of Object.values(TYPES)) if (known.status === status) return known;
  if (status === 408) return { kind: 'timeout', fault: 'upstream', status };
  if (isCallersStatus(status)) return { kind: 'invalid_request', fault: 'client', status };
  return { kind: 'upstream_unavailable', fault: 'upstream', status };
}
