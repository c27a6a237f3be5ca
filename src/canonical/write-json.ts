// JSON of a body in which late texts stand as the client wrote them: copied, instead of being parsed, escaped and encoded.
// Knows no protocol.
import { detached, toByteString } from '../lib/byte-string.ts';
import { isWrittenAsIs } from './json-text.ts';
import { isJsonArray, type JsonObject, type JsonValue } from './json.ts';
import { lateMember } from './late-text.ts';

/** How deep late texts are looked for: a list of messages, a message, a list of parts, a part. What is deeper has none. */
const DEEPEST = 4;

/** What a text of JSON becomes. */
type Encode = (text: string) => string;

/** Writes a body as a byte string. @param hasLate true where it may have late texts */
export function writeJson(body: JsonValue, hasLate: boolean): string {
  return hasLate ? write(body, 0, toByteString) : toByteString(JSON.stringify(body));
}

/** Writes items as a text. Those that have no late text of their own are made JSON as they are. */
export function writeItems(items: readonly JsonObject[]): string {
  let out = '';
  for (const item of items) {
    const text = lateMember(item) ? write(item, 0, asItIs) : JSON.stringify(item);
    out += `${out === '' ? '' : ','}${text}`;
  }
  return `[${out}]`;
}

function asItIs(text: string): string {
  return text;
}

function write(value: JsonValue, depth: number, encode: Encode): string {
  if (typeof value === 'string') return writeText(value, encode);
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return encode(JSON.stringify(value));
  let out = '';
  if (isJsonArray(value)) {
    for (const element of value) out += `${out === '' ? '[' : ','}${write(element, depth + 1, encode)}`;
    return out === '' ? '[]' : `${out}]`;
  }
  const late = lateMember(value);
  for (const key in value) {
    const isLate = late?.name === key;
    const member = isLate ? null : value[key];
    if (member === undefined) continue;
    const text = isLate ? encode(late.text.written) : write(member, depth + 1, encode);
    out += `${out === '' ? '{' : ','}${names.get(key) ?? writeName(key, encode)}${text}`;
  }
  return out === '' ? '{}' : `${out}}`;
}

function writeText(text: string, encode: Encode): string {
  return isWrittenAsIs(text) ? `"${text}"` : encode(JSON.stringify(text));
}

/** Plain names as they are written: bodies have the same few again and again. Only the first that come count. */
const names = new Map<string, string>();
const MOST_NAMES = 256;
const LONGEST_NAME = 64;

function writeName(name: string, encode: Encode): string {
  const text = `${writeText(name, encode)}:`;
  // In one piece, which is copied at once wherever it is put.
  if (names.size < MOST_NAMES && name.length <= LONGEST_NAME && isWrittenAsIs(name))
    names.set(name, detached(text));
  return text;
}
