// AWS's error bodies into the closed list of kinds. Does not decide what happens next.
import type { ErrorKind, Fault } from '../../canonical/index.ts';
import { asObject, asString, GatewayError, isCallersStatus, parseJson } from '../../canonical/index.ts';
import { retryAfterMs, shortMessage } from '../upstream-error.ts';

interface ErrorClass {
  readonly kind: ErrorKind;
  readonly fault: Fault;
}

const INVALID: ErrorClass = { kind: 'invalid_request', fault: 'client' };
const LIMITED: ErrorClass = { kind: 'rate_limited', fault: 'upstream' };
const REFUSED: ErrorClass = { kind: 'authentication', fault: 'upstream' };
const BROKEN: ErrorClass = { kind: 'upstream_unavailable', fault: 'upstream' };
const LATE: ErrorClass = { kind: 'timeout', fault: 'upstream' };
const UNKNOWN_MODEL: ErrorClass = { kind: 'not_found', fault: 'client' };

/** Names of exceptions: API reference "Converse", errors, and "Common Errors" (2026-11). Credentials are the operator's. */
const EXCEPTIONS: ReadonlyMap<string, ErrorClass> = new Map<string, ErrorClass>([
  ['ValidationException', INVALID],
  ['ThrottlingException', LIMITED],
  ['ModelNotReadyException', LIMITED],
  ['ServiceQuotaExceededException', { kind: 'quota', fault: 'upstream' }],
  ['AccessDeniedException', { kind: 'permission', fault: 'upstream' }],
  ['ResourceNotFoundException', UNKNOWN_MODEL],
  ['ModelTimeoutException', LATE],
  ['ModelErrorException', BROKEN],
  ['ModelStreamErrorException', BROKEN],
  ['InternalServerException', BROKEN],
  ['ServiceUnavailableException', BROKEN],
  ['ExpiredTokenException', REFUSED],
  ['UnrecognizedClientException', REFUSED],
  ['InvalidSignatureException', REFUSED],
  ['IncompleteSignatureException', REFUSED],
  ['MissingAuthenticationTokenException', REFUSED],
]);

/** The same by status, for answers that do not name the exception. */
const STATUSES: ReadonlyMap<number, ErrorClass> = new Map<number, ErrorClass>([
  [401, REFUSED],
  [403, { kind: 'permission', fault: 'upstream' }],
  [404, UNKNOWN_MODEL],
  [408, LATE],
  [413, { kind: 'too_large', fault: 'client' }],
  [424, BROKEN],
  [429, LIMITED],
]);

const CONTEXT_OVERFLOW =
  /input tokens exceeded|input is too long|prompt is too long|too many input tokens|exceeds? the (?:model'?s )?(?:maximum )?context|context (?:length|window)/i;
/** The name is wrong, or the model cannot be had in this way (recorded 2026). */
const NO_SUCH_MODEL = /model identifier is invalid|on-demand throughput isn.t supported|end of its life/i;
const BAD_TOKEN = /security token included in the request|signature/i;

/**
 * The error of an HTTP answer with a failing status, or of an exception inside of a stream.
 * @param status HTTP status
 * @param header reads a response header by lower-case name; `x-amzn-errortype` names the exception
 * @param body the answer's text: normally `{"message"}`
 */
export function decodeError(
  status: number,
  header: (name: string) => string | null,
  body: string,
): GatewayError {
  const parsed = asObject(parseJson(body));
  const message =
    asString(parsed['message']) ??
    asString(parsed['Message']) ??
    `the upstream answered with status ${status}`;
  const { kind, fault } = classify(exceptionName(header('x-amzn-errortype')), status, message);
  return new GatewayError(kind, shortMessage(message), {
    fault,
    retryAfterMs: retryAfterMs(header),
    upstream: { status, contentType: header('content-type') ?? undefined, body },
  });
}

function classify(name: string | undefined, status: number, message: string): ErrorClass {
  const known =
    (name === undefined ? undefined : EXCEPTIONS.get(name)) ??
    STATUSES.get(status) ??
    (isCallersStatus(status) ? INVALID : BROKEN);
  if (known.kind === 'permission' && BAD_TOKEN.test(message)) return REFUSED;
  if (known.kind !== 'invalid_request') return known;
  if (CONTEXT_OVERFLOW.test(message)) return { kind: 'context_overflow', fault: 'client' };
  return NO_SUCH_MODEL.test(message) ? UNKNOWN_MODEL : known;
}

/** `ValidationException:http://…` in headers, `validationException` in streams. */
function exceptionName(header: string | null): string | undefined {
  const name = header?.split(/[:#]/, 1)[0]?.trim();
  return name ? name[0]?.toUpperCase() + name.slice(1) : undefined;
}
