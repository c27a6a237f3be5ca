// Classifies errors of Responses servers in a body, in a stream or inside a response object.
import type { JsonObject, JsonValue } from '../../../base/json/index.ts';
import type { ContextRefusal, ErrorKind } from '../../../canonical/index.ts';
import { asArray, asObject, asString, isJsonObject, parseJson } from '../../../base/json/index.ts';
import { GatewayError, TEXTS } from '../../../canonical/index.ts';
import { contextRefusal, kindByWords } from '../../errors/refusal-words.ts';
import {
  faultOfKind,
  kindOfStatus,
  retryAfterMs,
  shortMessage,
  upstreamFailure,
} from '../../errors/upstream-error.ts';

/** Codes with the same meaning for every status. OpenAI guide "Error codes" and the SDK's ResponseError, 2026-11. */
const KIND_OF_CODE: Readonly<Record<string, ErrorKind>> = {
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
  readonly context?: ContextRefusal | undefined;
}

/**
 * Classifies an error answer. The code takes precedence over the status. Refused gateway credentials are the upstream's
 * fault for the client.
 * @param status HTTP status
 * @param header reads a response header by lower-case name
 * @param body text of the answer, JSON or not
 * @returns an error that keeps the upstream's status and bytes
 */
export function decodeError(
  status: number,
  header: (name: string) => string | null,
  body: string,
): GatewayError {
  const failure = readBody(parseJson(body));
  const known = kindOf(failure) ?? kindOfStatus(status);
  const kind = kindByWords(known, failure);
  const isModels = kind === 'not_found' && known !== kind;
  return new GatewayError(kind, messageOf(kind, failure, status), {
    param: failure.param ?? (isModels ? 'model' : undefined),
    httpStatus: isModels ? 404 : undefined,
    // LiteLLM's proxy repeats the status as the code.
    code: /^\d*$/.test(failure.code ?? '') ? undefined : failure.code,
    context: failure.context,
    fault: status === 401 || status === 403 ? 'upstream' : faultOfKind(kind),
    retryAfterMs: retryAfterMs(header),
    upstream: upstreamFailure(status, body, header),
  });
}

/**
 * Classifies a failure in an answer with status 200: an `error` event, or the `error` of a failed response.
 * @param error the object with `code` and `message`; anything else is a failure without a reason
 */
export function decodeFailure(error: JsonValue | undefined): GatewayError {
  const failure = isJsonObject(error) ? readError(error) : readBody(error);
  const known = kindOf(failure) ?? kindOfImageCode(failure.code);
  // A stream has no status per error, so the message may show that it is about the request.
  const kind = known ? kindByWords(known, failure) : kindOfFailure(failure);
  const message = failure.message ?? 'the upstream reported a failure without giving a reason';
  return new GatewayError(kind, shortMessage(message), {
    param: failure.param,
    code: failure.code,
    context: failure.context,
  });
}

/**
 * Known forms: `{error: {…}}`, `{error: "…", code}`, `{detail: "…" | [{loc, msg}]}`, `{message}`, or an array of one.
 */
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
    context: contextRefusal(error),
  };
}

/** Converts FastAPI's `loc` (`["body", "input", 0]`) to a path. */
function pathOf(loc: JsonValue | undefined): string | undefined {
  const steps = asArray(loc).filter((step) => step !== 'body');
  return steps.length > 0 ? steps.join('.') : undefined;
}

function kindOf(failure: Failure): ErrorKind | undefined {
  const code = failure.code ?? '';
  // `invalid_request_error` is the type of many more specific codes, and servers without codes only have the message.
  const kind = Object.hasOwn(KIND_OF_CODE, code) ? KIND_OF_CODE[code] : undefined;
  if (kind !== undefined && kind !== 'invalid_request') return kind;
  if (failure.type === 'insufficient_quota') return 'quota';
  if (failure.type === 'external_connector_error') return 'tool_unavailable';
  return kind;
}

/** Returns the kind of a failure without a code: the server's fault, unless its message is about the prompt. */
function kindOfFailure(failure: Failure): ErrorKind {
  const byWords = kindByWords('invalid_request', failure);
  return byWords === 'context_overflow' ? byWords : kindByWords('upstream_unavailable', failure);
}

/** Matches `invalid_image_url`, `image_too_large`, `empty_image_file`, `failed_to_download_image`: the client's image. */
function kindOfImageCode(code: string | undefined): ErrorKind | undefined {
  return code !== undefined && code.includes('image') ? 'invalid_request' : undefined;
}

function messageOf(kind: ErrorKind, failure: Failure, status: number): string {
  // Upstreams quote part of the refused key, which is the operator's and must not be shown to the client.
  if (kind === 'authentication') return "the upstream rejected the gateway's credentials";
  return shortMessage(failure.message ?? TEXTS.upstreamStatus(status));
}
