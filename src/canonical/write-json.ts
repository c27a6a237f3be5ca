// JSON of a body in which late texts stand as the client wrote them: copied, instead of being parsed, escaped and encoded.
// Knows no protocol.
import { toByteString } from '../lib/byte-string.ts';
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
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return encode(JSON.stringify(value));
  let out = '';
  if (isJsonArray(value)) {
    for (const element of value) out += `${out === '' ? '' : ','}${write(element, depth + 1, encode)}`;
    return `[${out}]`;
  }
  const late = lateMember(value);
  for (const key in value) {
    const isLate = late?.name === key;
    const member = isLate ? null : value[key];
    if (member === undefined) continue;
    const text = isLate ? encode(late.text.written) : write(member, depth + 1, encode);
    out += `${out === '' ? '' : ','}${writeText(key, encode)}:${text}`;
  }
  return `{${out}}`;
}

function writeText(text: string, encode: Encode): string {
  return isWrittenAsIs(text) ? `"${text}"` : encode(JSON.stringify(text));
}
