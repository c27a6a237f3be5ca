// Output format of models without a parameter for it: a system message asks for JSON instead.
import type { JsonObject } from '../src/base/json/index.ts';
import { asString, isJsonObject, parseJson } from '../src/base/json/index.ts';
import { contentText } from './conversation.ts';

/** Maximum characters of an instruction that are searched. */
const MAX_CHARS = 200_000;

/**
 * Format that a system message asks for: the schema after "JSON Schema", or any object for "JSON object".
 * @returns null if it asks for neither
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
