// Encodes errors for clients of Chat Completions and Responses, with OpenAI's types and codes. Statuses are those of
// the kinds, except that an overloaded upstream stays 503.
import type { JsonObject } from '../../base/json/index.ts';
import type { ErrorKind, GatewayError } from '../../canonical/index.ts';
import { isOverloaded } from '../../canonical/index.ts';

interface ErrorWords {
  readonly type: string;
  /** Used if the error has no code of its own, and always for a prompt that is too long. */
  readonly code: string | null;
}

/**
 * OpenAI's types, and the codes that clients check (OpenAI guide "Error codes"). Recorded at OpenAI, 2026-08: an
 * invalid key (401) and an unknown model (404) are `invalid_request_error`, like all other client errors. For a rate
 * limit, the type is what was counted, `requests` or `tokens`.
 */
const WORDS: Readonly<Record<ErrorKind, ErrorWords>> = {
  invalid_request: { type: 'invalid_request_error', code: null },
  unsupported: { type: 'invalid_request_error', code: null },
  authentication: { type: 'invalid_request_error', code: 'invalid_api_key' },
  permission: { type: 'invalid_request_error', code: null },
  not_found: { type: 'invalid_request_error', code: null },
  conflict: { type: 'invalid_request_error', code: null },
  too_large: { type: 'invalid_request_error', code: 'request_too_large' },
  rate_limited: { type: 'requests', code: 'rate_limit_exceeded' },
  quota: { type: 'insufficient_quota', code: 'insufficient_quota' },
  context_overflow: { type: 'invalid_request_error', code: 'context_length_exceeded' },
  content_filter: { type: 'invalid_request_error', code: 'content_filter' },
  // Code of OpenAI's own answer (seen in 2025 and 2026).
  tool_unavailable: { type: 'external_connector_error', code: 'http_error' },
  upstream_unavailable: { type: 'server_error', code: 'upstream_unavailable' },
  timeout: { type: 'server_error', code: 'timeout' },
  cancelled: { type: 'server_error', code: 'request_cancelled' },
  internal: { type: 'server_error', code: null },
};

/** Returns `{"error":{message, type, param, code}}`, the body of an error answer and of an error frame in a stream. */
export function encodeErrorBody(error: GatewayError): JsonObject {
  const words = WORDS[error.kind];
  const fallback = error.kind === 'not_found' && error.param === 'model' ? 'model_not_found' : words.code;
  // Agents shorten their history only on this code, but servers use many others, or only the general type.
  const code = error.kind === 'context_overflow' ? words.code : (error.code ?? fallback);
  return {
    error: {
      message: error.message,
      type: (error.kind === 'rate_limited' && error.counted) || words.type,
      param: error.param ?? null,
      code,
      ...(error.failedGeneration === undefined ? {} : { failed_generation: error.failedGeneration }),
    },
  };
}

/** OpenAI guide "Error codes", 2026-11: "The engine is currently overloaded". */
const OVERLOADED = 503;

/** Returns status and body of an error answer. The body has no member for the request id. */
export function encodeError(error: GatewayError): { readonly status: number; readonly body: JsonObject } {
  return { status: isOverloaded(error) ? OVERLOADED : error.status, body: encodeErrorBody(error) };
}
