// OpenAI's error body, shared by Chat Completions and Responses.
import type { JsonObject } from '../src/base/json/index.ts';
import type { Complaint } from './complaints.ts';

/** `{"error": {message, type, param, code}}`. */
export function encodeOpenaiError(complaint: Complaint): JsonObject {
  const { message, param, code } = complaint;
  const type = complaint.type ?? (complaint.status >= 500 ? 'server_error' : 'invalid_request_error');
  return { error: { message, type, param, code } };
}
