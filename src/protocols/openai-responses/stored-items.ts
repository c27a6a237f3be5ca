// Items as the gateway keeps them between requests: in this protocol's own raw form, each with an id. Knows nothing of
// where they are kept.
import { asArray, asString, isJsonObject, Problems } from '../../canonical/index.ts';
import type { Item, JsonObject, JsonValue } from '../../canonical/index.ts';
import type { StoredItems } from '../protocol.ts';
import { decodeInputItems } from './decode-input.ts';
import { prefixOf } from './encode-output-item.ts';
import { gateItem } from './include-gates.ts';
import { replayResponse } from './replay-stream.ts';

export const storedItems: StoredItems = { identify, decode, show, showResponse, replay: replayResponse };

function identify(input: JsonValue | undefined, newId: (prefix: string) => string): readonly JsonObject[] {
  if (input === undefined || input === null || input === '') return [];
  if (typeof input === 'string') return [userMessage(input, newId('msg_'))];
  if (!Array.isArray(input)) return [];
  return input.filter(isJsonObject).map((raw): JsonObject => {
    const type = asString(raw['type']) ?? 'message';
    return { ...raw, type, id: asString(raw['id']) || newId(prefixOf(type)) };
  });
}

function userMessage(text: string, id: string): JsonObject {
  return { id, type: 'message', role: 'user', status: 'completed', content: [{ type: 'input_text', text }] };
}

function decode(items: readonly JsonObject[], path: string): readonly Item[] {
  const problems = new Problems();
  const decoded = decodeInputItems(items, path, problems);
  problems.throwIfAny();
  return decoded;
}

/** Items that have a status whenever the API gives them back (`ItemResource` in OpenAI's description, 2026-11). */
const WITH_STATUS: ReadonlySet<string> = new Set([
  'message',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
]);

function show(item: JsonObject, include: ReadonlySet<string>): JsonObject {
  const type = String(item['type']);
  const { content } = item;
  const whole = {
    ...item,
    ...(WITH_STATUS.has(type) ? { status: item['status'] ?? 'completed' } : {}),
    ...(type === 'message' && typeof content === 'string'
      ? { content: [textPart(item['role'], content)] }
      : {}),
  };
  return gateItem(whole, include);
}

function textPart(role: JsonValue | undefined, text: string): JsonObject {
  return role === 'assistant'
    ? { type: 'output_text', text, annotations: [], logprobs: [] }
    : { type: 'input_text', text };
}

function showResponse(response: JsonObject, include: ReadonlySet<string>): JsonObject {
  const output = asArray(response['output']).filter(isJsonObject);
  return { ...response, output: output.map((item) => gateItem(item, include)) };
}
