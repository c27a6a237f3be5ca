// OpenAI's error body, shared by Chat Completions and Responses.
import type { JsonObject } from '../src/base/json/index.ts';
import type { SimError } from './request-problems.ts';

/** `{"error": {message, type, param, code}}`. */
export function encodeOpenaiError(error: SimError): JsonObject {
  const { message, param, code } = error;
  const type = error.type ?? (error.status >= 500 ? 'server_error' : 'invalid_request_error');
  return { error: { message, type, param, code } };
}
