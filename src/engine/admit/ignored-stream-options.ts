// `stream_options` on a request that does not stream: refused, as by OpenAI, unless the operator has clients that
// always send it.
import { editJson, isJsonObject, jsonBytes, type JsonObject } from '../../base/json/index.ts';
import { joined } from '../../base/lib/bytes.ts';
import type { ApiCall } from '../call.ts';

/** The body without the options. Undefined: it streams, or has none. */
export function withoutStreamOptions(json: unknown): JsonObject | undefined {
  if (!isJsonObject(json) || json['stream'] === true) return undefined;
  if (json['stream_options'] === undefined || json['stream_options'] === null) return undefined;
  const { stream_options: _, ...rest } = json;
  return rest;
}

/**
 * Removes the options from a call, parsed and in its bytes.
 * @returns true when there were any
 */
export function ignoreStreamOptions(call: ApiCall): boolean {
  const json = withoutStreamOptions(call.json);
  if (!json) return false;
  call.json = json;
  call.body = jsonBytes(joined(editJson(call.body, { set: {}, remove: ['stream_options'] })));
  return true;
}
