// Items as the gateway keeps them between requests: in this protocol's own raw form, each with an id. Knows nothing of
// where they are kept.
import { asString, isJsonObject, Problems } from '../../canonical/index.ts';
import type { Item, JsonObject, JsonValue } from '../../canonical/index.ts';
import type { StoredItems } from '../protocol.ts';
import { decodeInputItems } from './decode-input.ts';
import { prefixOf } from './encode-output-item.ts';

export const storedItems: StoredItems = { identify, decode };

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
