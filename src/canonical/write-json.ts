// JSON of a body in which late texts stand as the client wrote them: copied, instead of being parsed, escaped and encoded.
// Knows no protocol.
import { toByteString } from '../lib/byte-string.ts';
import { isWrittenAsIs } from './json-text.ts';
import { isJsonArray, type JsonValue } from './json.ts';
import { lateMember } from './late-text.ts';

/** How deep late texts are looked for: a list of messages, a message, a list of parts, a part. What is deeper has none. */
const DEEPEST = 4;

/** Writes a body as a byte string. @param hasLate true where it may have late texts */
export function writeJson(body: JsonValue, hasLate: boolean): string {
  return hasLate ? write(body, 0) : toByteString(JSON.stringify(body));
}

function write(value: JsonValue, depth: number): string {
  if (typeof value === 'string') return writeText(value);
  if (typeof value !== 'object' || value === null || depth > DEEPEST)
    return toByteString(JSON.stringify(value));
  let out = '';
  if (isJsonArray(value)) {
    for (const element of value) out += `${out === '' ? '' : ','}${write(element, depth + 1)}`;
    return `[${out}]`;
  }
  const late = lateMember(value);
  for (const key in value) {
    const isLate = late?.name === key;
    const member = isLate ? null : value[key];
    if (member === undefined) continue;
    const text = isLate ? toByteString(late.text.written) : write(member, depth + 1);
    out += `${out === '' ? '' : ','}${writeText(key)}:${text}`;
  }
  return `{${out}}`;
}

function writeText(text: string): string {
  return isWrittenAsIs(text) ? `"${text}"` : toByteString(JSON.stringify(text));
}
