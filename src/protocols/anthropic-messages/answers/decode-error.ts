// Classifies Anthropic's error bodies and error frames.
import type { JsonObject } from '../../../base/json/index.ts';
import type { ErrorKind } from '../../../canonical/index.ts';
import { asObject, asString, isJsonArray, isJsonObject, parseJson } from '../../../base/json/index.ts';
import { GatewayError, TEXTS } from '../../../canonical/index.ts';
import { contextRefusal, kindByWords } from '../../errors/refusal-words.ts';
import {
  faultOfKind,
  kindOfStatus,
  retryAfterMs,
  shortMessage,
  upstreamFailure,
} from '../../errors/upstream-error.ts';
import type { WireErrorType } from '../wire-types.ts';

interface ErrorClass {
  readonly kind: ErrorKind;
  /** HTTP status of the type, because error frames in a stream have none. */
  readonly status: number;
}

/** Types and statuses: API reference "Errors" (2026-11). */
const TYPES: Readonly<Record<WireErrorType, ErrorClass>> = {
  invalid_request_error: { kind: 'invalid_request', status: 400 },
  authentication_error: { kind: 'authentication', status: 401 },
  billing_error: { kind: 'quota', status: 402 },
  permission_error: { kind: 'permission', status: 403 },
  not_found_error: { kind: 'not_found', status: 404 },
  conflict_error: { kind: 'conflict', status: 409 },
  request_too_large: { kind: 'too_large', status: 413 },
  rate_limit_error: { kind: 'rate_limited', status: 429 },
  timeout_error: { kind: 'timeout', status: 504 },
  overloaded_error: { kind: 'upstream_unavailable', status: 529 },
  api_error: { kind: 'upstream_unavailable', status: 500 },
};

/** Message of an `invalid_request_error` with status 400 for an account without credit. */
const NO_CREDIT = /credit balance is too low|reached your specified (?:api|workspace api) usage limits/i;
const CONTENT_FILTER = /content filtering policy/i;

/**
 * Classifies an HTTP answer with an error status.
 * @param status HTTP status
 * @param header reads a response header by lower-case name
 * @param body text of the answer, normally `{"type":"error","error":{"type","message"},"request_id"}`. Hosts of Claude
 * differ: Bedrock sends `{"message"}`, and Vertex sends Google's form, as a list where it would stream
 */
export function decodeError(
  status: number,
  header: (name: string) => string | null,
  body: string,
): GatewayError {
  const parsed = parseJson(body);
  const answer = asObject(isJsonArray(parsed) ? parsed[0] : parsed);
  const error = asObject(answer['error']);
  const message = asString(error['message']) ?? asString(answer['message']) ?? TEXTS.upstreamStatus(status);
  const { kind } = classify(asString(error['type']), message, status);
  const isModels = kind === 'not_found' && status === 400;
  return new GatewayError(kind, shortMessage(message), {
    param: isModels ? 'model' : undefined,
    httpStatus: isModels ? 404 : undefined,
    context: contextRefusal(error),
    fault: faultOfKind(kind),
    retryAfterMs: retryAfterMs(header),
    details: detailsOf(error),
    upstream: upstreamFailure(status, body, header),
  });
}

/**
 * Classifies an `error` event of a stream, or an error body with status 200.
 * @param frame the event's parsed data
 * @param data its text, kept as the upstream's original
 */
export function decodeErrorFrame(frame: JsonObject, data: string): GatewayError {
  const error = asObject(frame['error']);
  const message = asString(error['message']) ?? 'the upstream reported an error in the stream';
  const { kind, status } = classify(asString(error['type']), message, 500);
  return new GatewayError(kind, shortMessage(message), {
    fault: faultOfKind(kind),
    details: detailsOf(error),
    upstream: { status, body: data },
  });
}

function detailsOf({ details }: JsonObject): JsonObject | undefined {
  return isJsonObject(details) ? details : undefined;
}

function classify(type: string | undefined, message: string, status: number): ErrorClass {
  const known =
    type !== undefined && isKnownType(type) ? TYPES[type] : { kind: kindOfStatus(status), status };
  if (known.kind === 'invalid_request' || known.kind === 'too_large') {
    if (NO_CREDIT.test(message)) return { ...known, kind: 'quota' };
    if (CONTENT_FILTER.test(message)) return { ...known, kind: 'content_filter' };
  }
  return { ...known, kind: kindByWords(known.kind, { message, type }) };
}

function isKnownType(type: string): type is WireErrorType {
  return Object.hasOwn(TYPES, type);
}
