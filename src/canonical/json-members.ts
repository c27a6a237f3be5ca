// A few short members of a JSON object, read off its text: what is told of a request whose body nobody will parse. Passes
// over everything else at the speed of a search. Judges only what it has to read.
import { fromByteString } from '../lib/byte-string.ts';
import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, isSpace } from './json-text.ts';
import { OPEN_BRACE, OPEN_BRACKET, QUOTE, skipSpace, stringEnd } from './json-text.ts';
import type { JsonObject, JsonValue, MutableJsonObject } from './json.ts';

/** Longest value that is read, in bytes. */
const MOST_BYTES = 8 * 1024;

/**
 * The members of these names, parsed.
 * @param bytes the object as a byte string; one walk over it, whatever it holds
 * @returns undefined where that cannot be told: the text is no object as far as it was looked at, a name is escaped, or a
 *   member of these names stands twice or is long
 */
export function readMembers(bytes: string, names: ReadonlySet<string>): JsonObject | undefined {
  const found: MutableJsonObject = {};
  let at = skipSpace(bytes, 0);
  if (bytes.charCodeAt(at) !== OPEN_BRACE) return undefined;
  const first = skipSpace(bytes, at + 1);
  if (bytes.charCodeAt(first) === CLOSE_BRACE) at = first;
  else
    do {
      const from = skipSpace(bytes, at + 1);
      const nameEnd = bytes.charCodeAt(from) === QUOTE ? stringEnd(bytes, from + 1) : -1;
      if (nameEnd < 0) return undefined;
      const name = bytes.slice(from + 1, nameEnd - 1);
      const colon = skipSpace(bytes, nameEnd);
      if (name.includes('\\') || bytes.charCodeAt(colon) !== COLON) return undefined;
      const valueFrom = skipSpace(bytes, colon + 1);
      const to = valueEnd(bytes, valueFrom);
      if (to < 0) return undefined;
      if (names.has(name)) {
        const value = Object.hasOwn(found, name) ? undefined : readValue(bytes, valueFrom, to);
        if (value === undefined) return undefined;
        found[name] = value;
      }
      at = skipSpace(bytes, to);
    } while (bytes.charCodeAt(at) === COMMA);
  const isWhole = bytes.charCodeAt(at) === CLOSE_BRACE && skipSpace(bytes, at + 1) === bytes.length;
  return isWhole ? found : undefined;
}

function readValue(bytes: string, from: number, to: number): JsonValue | undefined {
  if (to - from > MOST_BYTES) return undefined;
  try {
    return JSON.parse(fromByteString(bytes.slice(from, to))) as JsonValue;
  } catch {
    return undefined;
  }
}

/** @returns offset behind the value; -1 where it does not end */
function valueEnd(text: string, from: number): number {
  const first = text.charCodeAt(from);
  if (first === QUOTE) return stringEnd(text, from + 1);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return containerEnd(text, from);
  let at = from;
  while (at < text.length && !endsWord(text.charCodeAt(at))) at++;
  return at > from ? at : -1;
}

function endsWord(code: number): boolean {
  return isSpace(code) || code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET;
}

function containerEnd(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length;) {
    const code = text.charCodeAt(at);
    // No value begins with one outside of a string.
    if (code === BACKSLASH) return -1;
    if (code === QUOTE) {
      at = stringEnd(text, at + 1);
      if (at < 0) return -1;
      continue;
    }
    at++;
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
    else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --depth === 0) return at;
  }
  return -1;
}
