// Small models have no answer format of their own, yet follow an instruction to answer in JSON. So do these.
import type { JsonObject } from '../src/base/json/index.ts';
import { asString, isJsonObject, parseJson } from '../src/base/json/index.ts';
import { contentText } from './conversation.ts';

/** Longest instruction that is searched, in characters. */
const MAX_CHARS = 200_000;

/**
 * The format that a system message asks for: the JSON Schema that stands behind those two words, or any object
 * where it says only "JSON object"; null when it asks for neither.
 */
export function instructedFormat(messages: readonly JsonObject[]): { schema: JsonObject | null } | null {
  for (const message of messages) {
    const role = asString(message['role']);
    if (role !== 'system' && role !== 'developer') continue;
    const text = contentText(message['content']).slice(0, MAX_CHARS);
    const named = text.indexOf('JSON Schema');
    const from = named < 0 ? -1 : text.indexOf('{', named);
    const schema = from < 0 ? undefined : parseJson(text.slice(from, text.lastIndexOf('}') + 1));
    if (isJsonObject(schema)) return { schema };
    if (text.includes('JSON object')) return { schema: null };
  }
  return null;
}
