// Failures as a Responses server words them, in a body, in a stream or inside a response object, as one closed
// kind. Knows nothing of retries: the engine's table decides what a kind leads to.
import type { ErrorKind, JsonObject, JsonValue } from '../../canonical/index.ts';
import { asArray, asObject, asString, GatewayError, isJsonObject, parseJson } from '../../canonical/index.ts';
import { faultOfKind, kindOfStatus, retryAfterMs, shortMessage, upstreamFailure } from '../upstream-error.ts';

/** Codes that mean the same with every status. OpenAI guide "Error codes" and the SDK's ResponseError, 2026-11. */
const KIND_OF_CODE: Readonly<Record<string, ErrorKind>> = {
  context_length_exceeded: 'context_overflow',
  insufficient_quota: 'quota',
  billing_hard_limit_reached: 'quota',
  billing_not_active: 'quota',
  rate_limit_exceeded: 'rate_limited',
  rate_limit_error: 'rate_limited',
  slow_down: 'rate_limited',
  invalid_prompt: 'content_filter',
  bio_policy: 'content_filter',
  cyber_policy: 'content_filter',
  content_filter: 'content_filter',
  content_policy_violation: 'content_filter',
  image_content_policy_violation: 'content_filter',
  misalignment_policy_violation: 'content_filter',
  model_not_found: 'not_found',
  unsupported_parameter: 'unsupported',
  unsupported_value: 'unsupported',
  server_error: 'upstream_unavailable',
  overloaded: 'upstream_unavailable',
  server_overloaded: 'upstream_unavailable',
  vector_store_timeout: 'upstream_unavailable',
  invalid_request_error: 'invalid_request',
};

interface Failure {
  readonly message: string | undefined;
  readonly code: string | undefined;
  readonly type: string | undefined;
  readonly param: string | undefined;
}

/**
 * Classifies an error answer.
 * @param status HTTP status
 * @param header reads a response header by lower-case name
 * @param body the body as text; any form, also not JSON
 * @returns an error that keeps the upstream's status and bytes. The code decides before the status does; the
 *   gateway's own credentials being refused is the upstream's fault in the client's eyes.
 */
export function decodeError(
  status: number,
  header: (name: string) => string | null,
  body: string,
): GatewayError {
  const failure = readBody(parseJson(body));
  const kind = kindOf(failure) ?? kindOfStatus(status);
  return new GatewayError(kind, messageOf(kind, failure, status), {
    param: failure.param,
    code: failure.code,
    fault: status === 401 || status === 403 ? 'upstream' : faultOfKind(kind),
    retryAfterMs: retryAfterMs(header),
    upstream: upstreamFailure(status, body, header),
  });
}

/**
 * A failure inside an answer that began with status 200: an `error` event, or the `error` of a failed response.
 * @param error the object with `code` and `message`; anything else gives a failure without a reason
 */
export function decodeFailure(error: JsonValue | undefined): GatewayError {
  const failure = isJsonObject(error) ? readError(error) : readBody(error);
  const kind = kindOf(failure) ?? kindOfImageCode(failure.code) ?? 'upstream_unavailable';
  const message = failure.message ?? 'the upstream reported a failure without giving a reason';
  return new GatewayError(kind, shortMessage(message), { param: failure.param, code: failure.code });
}

/** The forms met so far: `{error: {…}}`, `{error: "…", code}`, `{detail: "…" | [{loc, msg}]}`, `{message}`, an array around one of them. */
function readBody(body: JsonValue | undefined): Failure {
  if (typeof body === 'string') return { message: body, code: undefined, type: undefined, param: undefined };
  const root = asObject(Array.isArray(body) ? asArray(body)[0] : body);
  const { error, detail } = root;
  if (isJsonObject(error)) return readError(error);
  const outer = readError(root);
  if (typeof error === 'string') return { ...outer, message: error };
  if (isJsonObject(detail)) return readError(detail);
  const problem = asObject(asArray(detail)[0]);
  return {
    ...outer,
    message: asString(detail) ?? asString(problem['msg']) ?? outer.message,
    param: outer.param ?? pathOf(problem['loc']),
  };
}

function readError(error: JsonObject): Failure {
  return {
    message: asString(error['message']),
    code: asString(error['code']),
    type: asString(error['type']),
    param: asString(error['param']),
  };
}

/** FastAPI's `loc` (`["body", "input", 0]`) as a path. */
function pathOf(loc: JsonValue | undefined): string | undefined {
  const steps = asArray(loc).filter((step) => step !== 'body');
  return steps.length > 0 ? steps.join('.') : undefined;
}

function kindOf(failure: Failure): ErrorKind | undefined {
  const code = failure.code ?? '';
  // `invalid_request_error` comes as a type beside every finer code, and servers without codes put the reason
  // into words only.
  const kind = Object.hasOwn(KIND_OF_CODE, code) ? KIND_OF_CODE[code] : undefined;
  if (kind !== undefined && kind !== 'invalid_request') return kind;
  if (failure.type === 'insufficient_quota') return 'quota';
  if (speaksOfContext(failure.message)) return 'context_overflow';
  return kind;
}

function speaksOfContext(message: string | undefined): boolean {
  if (message === undefined) return false;
  const text = message.toLowerCase();
  return (
    text.includes('context length') ||
    text.includes('context window') ||
    text.includes('prompt is too long') ||
    text.includes('maximum prompt length')
  );
}

/** `invalid_image_url`, `image_too_large`, `empty_image_file`, `failed_to_download_image`: the client's image. */
function kindOfImageCode(code: string | undefined): ErrorKind | undefined {
  return code !== undefined && code.includes('image') ? 'invalid_request' : undefined;
}

function messageOf(kind: ErrorKind, failure: Failure, status: number): string {
  // An upstream quotes part of the refused key, which is the operator's and not the client's to see.
  if (kind === 'authentication') return 'the upstream refused the credentials of the gateway';
  return shortMessage(failure.message ?? `the upstream answered with status ${status}`);
}
