// Google's error bodies (google.rpc.Status in JSON) into the closed list of kinds. Does not decide what happens next.
import type { ErrorKind, Fault, JsonObject } from '../../canonical/index.ts';
import {
  asArray,
  asNumber,
  asObject,
  asString,
  GatewayError,
  isCallersStatus,
  isJsonArray,
  isJsonObject,
  parseJson,
} from '../../canonical/index.ts';
import { retryAfterMs, shortMessage } from '../upstream-error.ts';

interface ErrorClass {
  readonly kind: ErrorKind;
  readonly fault: Fault;
}

/** Words of `error.status` (google.rpc.Code). A credentials problem is the operator's, not the client's. */
const STATUSES: ReadonlyMap<string, ErrorClass> = new Map<string, ErrorClass>([
  ['INVALID_ARGUMENT', { kind: 'invalid_request', fault: 'client' }],
  ['OUT_OF_RANGE', { kind: 'invalid_request', fault: 'client' }],
  // The account or its place, not the request: "User location is not supported", "enable billing".
  ['FAILED_PRECONDITION', { kind: 'permission', fault: 'upstream' }],
  ['UNAUTHENTICATED', { kind: 'authentication', fault: 'upstream' }],
  ['PERMISSION_DENIED', { kind: 'permission', fault: 'upstream' }],
  ['NOT_FOUND', { kind: 'not_found', fault: 'client' }],
  ['ALREADY_EXISTS', { kind: 'conflict', fault: 'client' }],
  ['ABORTED', { kind: 'conflict', fault: 'upstream' }],
  ['RESOURCE_EXHAUSTED', { kind: 'rate_limited', fault: 'upstream' }],
  ['UNIMPLEMENTED', { kind: 'unsupported', fault: 'client' }],
  ['DEADLINE_EXCEEDED', { kind: 'timeout', fault: 'upstream' }],
  ['CANCELLED', { kind: 'upstream_unavailable', fault: 'upstream' }],
  ['INTERNAL', { kind: 'upstream_unavailable', fault: 'upstream' }],
  ['UNAVAILABLE', { kind: 'upstream_unavailable', fault: 'upstream' }],
  ['UNKNOWN', { kind: 'upstream_unavailable', fault: 'upstream' }],
  ['DATA_LOSS', { kind: 'upstream_unavailable', fault: 'upstream' }],
]);
const CODES: ReadonlyMap<number, ErrorClass> = new Map<number, ErrorClass>([
  [401, { kind: 'authentication', fault: 'upstream' }],
  [402, { kind: 'quota', fault: 'upstream' }],
  [403, { kind: 'permission', fault: 'upstream' }],
  [404, { kind: 'not_found', fault: 'client' }],
  [408, { kind: 'timeout', fault: 'upstream' }],
  [409, { kind: 'conflict', fault: 'client' }],
  [413, { kind: 'too_large', fault: 'client' }],
  [429, { kind: 'rate_limited', fault: 'upstream' }],
  [504, { kind: 'timeout', fault: 'upstream' }],
]);

/** `The input token count (1250074) exceeds the maximum number of tokens allowed (1048576).` (recorded 2026-05) */
const CONTEXT_OVERFLOW =
  /token count[^.]*exceeds the maximum number of tokens|exceeds? the (?:model'?s )?context/i;
/** A wrong key is refused with 400. */
const WRONG_KEY = /api key not valid|api key expired|api_key_invalid/i;
/** Google says "exceeded your current quota" for every rate limit; only these mean that the account is empty. */
const NO_CREDIT = /prepayment credits are depleted|enable billing|billing account/i;
const BLOCKED = /\bblocked (?:by|due to)\b|violat\w+ (?:of )?(?:our|google)/i;

/**
 * The error of an HTTP answer with a failing status.
 * @param status HTTP status
 * @param header reads a response header by lower-case name
 * @param body the answer's text: `{"error":{code, message, status, details}}`, or a list of one such object
 */
export function decodeError(
  status: number,
  header: (name: string) => string | null,
  body: string,
): GatewayError {
  const error = errorObject(parseJson(body)) ?? {};
  return build(error, status, {
    retryAfterMs: retryDelayMs(error) ?? retryAfterMs(header),
    contentType: header('content-type') ?? undefined,
    body,
  });
}

/** The error that a body with status 200 or a frame of a stream reports; undefined when it reports none. */
export function decodeInlineError(body: unknown): GatewayError | undefined {
  const error = errorObject(body);
  if (error === undefined) return undefined;
  const text = JSON.stringify(body);
  const status = asNumber(error['code']) ?? 500;
  return build(error, status, {
    retryAfterMs: retryDelayMs(error),
    contentType: 'application/json',
    body: text,
  });
}

interface Words {
  readonly retryAfterMs: number | undefined;
  readonly contentType: string | undefined;
  readonly body: string;
}

function build(error: JsonObject, status: number, { retryAfterMs, contentType, body }: Words): GatewayError {
  const message = asString(error['message']) ?? `the upstream answered with status ${status}`;
  const { kind, fault } = classify(asString(error['status']), status, message, error);
  return new GatewayError(kind, shortMessage(message), {
    fault,
    retryAfterMs,
    upstream: { status, contentType, body },
  });
}

function errorObject(body: unknown): JsonObject | undefined {
  const outer = isJsonArray(body) ? body[0] : body;
  if (!isJsonObject(outer)) return undefined;
  return isJsonObject(outer['error']) ? outer['error'] : undefined;
}

function classify(word: string | undefined, status: number, message: string, error: JsonObject): ErrorClass {
  const known = (word === undefined ? undefined : STATUSES.get(word)) ?? byCode(status);
  if (WRONG_KEY.test(message) || detail(error, 'ErrorInfo')?.['reason'] === 'API_KEY_INVALID')
    return { kind: 'authentication', fault: 'upstream' };
  if (NO_CREDIT.test(message)) return { kind: 'quota', fault: 'upstream' };
  if (known.kind !== 'invalid_request') return known;
  if (CONTEXT_OVERFLOW.test(message)) return { kind: 'context_overflow', fault: 'client' };
  return BLOCKED.test(message) ? { kind: 'content_filter', fault: 'client' } : known;
}

function byCode(status: number): ErrorClass {
  return (
    CODES.get(status) ??
    (isCallersStatus(status)
      ? { kind: 'invalid_request', fault: 'client' }
      : { kind: 'upstream_unavailable', fault: 'upstream' })
  );
}

/** `RetryInfo.retryDelay`, a duration in seconds with a unit: `34.4s` (google.rpc, error_details). */
function retryDelayMs(error: JsonObject): number | undefined {
  const text = asString(detail(error, 'RetryInfo')?.['retryDelay']);
  const seconds = text?.endsWith('s') ? Number(text.slice(0, -1)) : NaN;
  return Number.isFinite(seconds) && seconds >= 0 ? Math.round(seconds * 1000) : undefined;
}

function detail(error: JsonObject, name: string): JsonObject | undefined {
  return asArray(error['details'])
    .map(asObject)
    .find((entry) => asString(entry['@type'])?.endsWith(`google.rpc.${name}`));
}
