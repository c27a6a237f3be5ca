// Classifies Google's error bodies (google.rpc.Status in JSON).
import type { JsonObject } from '../../base/json/index.ts';
import type { ErrorDetails, ErrorKind } from '../../canonical/index.ts';
import {
  asArray,
  asNumber,
  asObject,
  asString,
  isJsonArray,
  isJsonObject,
  parseJson,
} from '../../base/json/index.ts';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import { kindByWords } from '../errors/refusal-words.ts';
import {
  faultOfKind,
  kindOfStatus,
  retryAfterMs,
  shortMessage,
  upstreamFailure,
} from '../errors/upstream-error.ts';
import type { DurationMs } from '../../base/units.ts';

/** Kinds by `error.status` (google.rpc.Code). */
const STATUSES: ReadonlyMap<string, ErrorKind> = new Map<string, ErrorKind>([
  ['INVALID_ARGUMENT', 'invalid_request'],
  ['OUT_OF_RANGE', 'invalid_request'],
  // Caused by the account or its region, not by the request: "User location is not supported", "enable billing".
  ['FAILED_PRECONDITION', 'permission'],
  ['UNAUTHENTICATED', 'authentication'],
  ['PERMISSION_DENIED', 'permission'],
  ['NOT_FOUND', 'not_found'],
  ['ALREADY_EXISTS', 'conflict'],
  ['ABORTED', 'conflict'],
  ['RESOURCE_EXHAUSTED', 'rate_limited'],
  ['UNIMPLEMENTED', 'unsupported'],
  ['DEADLINE_EXCEEDED', 'timeout'],
  ['CANCELLED', 'upstream_unavailable'],
  ['INTERNAL', 'upstream_unavailable'],
  ['UNAVAILABLE', 'upstream_unavailable'],
  ['UNKNOWN', 'upstream_unavailable'],
  ['DATA_LOSS', 'upstream_unavailable'],
]);

/** An invalid key is refused with 400. */
const WRONG_KEY = /api key not valid|api key expired|api_key_invalid/i;
/**
 * Google sends "exceeded your current quota" for every rate limit. Only these messages mean that there is no credit.
 */
const NO_CREDIT = /prepayment credits are depleted|enable billing|billing account/i;
const BLOCKED = /\bblocked (?:by|due to)\b|violat\w+ (?:of )?(?:our|google)/i;

/**
 * Classifies an HTTP answer with an error status.
 * @param status HTTP status
 * @param header reads a response header by lower-case name
 * @param body text of the answer: `{"error":{code, message, status, details}}`, or a list of one such object
 */
export function decodeError(
  status: number,
  header: (name: string) => string | null,
  body: string,
): GatewayError {
  const error = errorObject(parseJson(body)) ?? {};
  return build(error, status, {
    retryAfterMs: retryDelayMs(error) ?? retryAfterMs(header),
    upstream: upstreamFailure(status, body, header),
  });
}

/** Returns the error in a body with status 200 or in a frame of a stream; undefined if there is none. */
export function decodeInlineError(body: unknown): GatewayError | undefined {
  const error = errorObject(body);
  if (error === undefined) return undefined;
  const status = asNumber(error['code']) ?? 500;
  return build(error, status, {
    retryAfterMs: retryDelayMs(error),
    upstream: { status, body: JSON.stringify(body) },
  });
}

function build(
  error: JsonObject,
  status: number,
  details: Pick<ErrorDetails, 'retryAfterMs' | 'upstream'>,
): GatewayError {
  const message = asString(error['message']) ?? TEXTS.upstreamStatus(status);
  const word = asString(error['status']);
  const kind = classify(word, status, message, error);
  return new GatewayError(kind, shortMessage(message), {
    // Another request of the same account caused it, so another account may serve the request.
    fault: word === 'ABORTED' ? 'upstream' : faultOfKind(kind),
    ...details,
  });
}

function errorObject(body: unknown): JsonObject | undefined {
  const outer = isJsonArray(body) ? body[0] : body;
  if (!isJsonObject(outer)) return undefined;
  return isJsonObject(outer['error']) ? outer['error'] : undefined;
}

function classify(word: string | undefined, status: number, message: string, error: JsonObject): ErrorKind {
  const known = (word === undefined ? undefined : STATUSES.get(word)) ?? kindOfStatus(status);
  if (WRONG_KEY.test(message) || detail(error, 'ErrorInfo')?.['reason'] === 'API_KEY_INVALID')
    return 'authentication';
  if (NO_CREDIT.test(message)) return 'quota';
  if (known !== 'invalid_request') return kindByWords(known, { message });
  const kind = kindByWords(known, { message });
  return kind === known && BLOCKED.test(message) ? 'content_filter' : kind;
}

/** Reads `RetryInfo.retryDelay`, a duration in seconds with a unit: `34.4s` (google.rpc, error_details). */
function retryDelayMs(error: JsonObject): DurationMs | undefined {
  const text = asString(detail(error, 'RetryInfo')?.['retryDelay']);
  const seconds = text?.endsWith('s') ? Number(text.slice(0, -1)) : NaN;
  return Number.isFinite(seconds) && seconds >= 0 ? Math.round(seconds * 1000) : undefined;
}

function detail(error: JsonObject, name: string): JsonObject | undefined {
  return asArray(error['details'])
    .map(asObject)
    .find((entry) => asString(entry['@type'])?.endsWith(`google.rpc.${name}`));
}
