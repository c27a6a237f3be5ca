// The members of a JSON object, found and read off its bytes: those of a request whose body nobody will parse, and those of
// an answer that are edited. Passes over everything else at the speed of a search. Judges only what it has to read.
import {
  nameIn,
  scalarEndIn,
  skipSpaceIn,
  stringEndIn,
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './text.ts';
import type { MemberPlace } from './scan.ts';
import type { JsonObject, JsonValue, MutableJsonObject } from './value.ts';

/** Longest value that is read, in bytes. */
const MOST_BYTES = 8 * 1024;

/**
 * Walks over the members of an object, and over nothing in them.
 * @param take gets each in turn, a name that stands twice as well; false ends the walk
 * @returns true where the text was walked over to its end, and is one object as far as it was looked at
 */
export function walkMembers(bytes: Buffer, take: (member: MemberPlace) => boolean): boolean {
  let at = skipSpaceIn(bytes, 0);
  if (bytes[at] !== OPEN_BRACE) return false;
  const first = skipSpaceIn(bytes, at + 1);
  if (bytes[first] === CLOSE_BRACE) at = first;
  else
    do {
      const from = skipSpaceIn(bytes, at + 1);
      const nameEnd = bytes[from] === QUOTE ? stringEndIn(bytes, from + 1) : -1;
      const name = nameEnd < 0 ? undefined : nameIn(bytes, from + 1, nameEnd - 1);
      const colon = skipSpaceIn(bytes, nameEnd);
      if (name === undefined || bytes[colon] !== COLON) return false;
      const valueFrom = skipSpaceIn(bytes, colon + 1);
      const to = valueEnd(bytes, valueFrom);
      if (to < 0 || !take({ name, from, valueFrom, to })) return false;
      at = skipSpaceIn(bytes, to);
    } while (bytes[at] === COMMA);
  return bytes[at] === CLOSE_BRACE && skipSpaceIn(bytes, at + 1) === bytes.length;
}

/**
 * The members of these names, parsed.
 * @param bytes the object; one walk over it, whatever it holds
 * @returns undefined where that cannot be told: the text is no object as far as it was looked at, or a member of these names
 *   stands twice or is long
 */
export function readMembers(bytes: Buffer, names: ReadonlySet<string>): JsonObject | undefined {
  const found: MutableJsonObject = {};
  const isWhole = walkMembers(bytes, ({ name, valueFrom, to }) => {
    if (!names.has(name)) return true;
    const value = Object.hasOwn(found, name) ? undefined : readValue(bytes, valueFrom, to);
    found[name] = value;
    return value !== undefined;
  });
  return isWhole ? found : undefined;
}

function readValue(bytes: Buffer, from: number, to: number): JsonValue | undefined {
  if (to - from > MOST_BYTES) return undefined;
  try {
    return JSON.parse(bytes.toString('utf8', from, to)) as JsonValue;
  } catch {
    return undefined;
  }
}

/** @returns offset behind the value; -1 where it does not end */
function valueEnd(bytes: Buffer, from: number): number {
  const first = bytes[from];
  if (first === QUOTE) return stringEndIn(bytes, from + 1);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return containerEnd(bytes, from);
  const end = scalarEndIn(bytes, from);
  return end > from ? end : -1;
}

function containerEnd(bytes: Buffer, from: number): number {
  let depth = 0;
  for (let at = from; at < bytes.length;) {
    const byte = bytes[at];
    // No value begins with one outside of a string.
    if (byte === BACKSLASH) return -1;
    if (byte === QUOTE) {
      at = stringEndIn(bytes, at + 1);
      if (at < 0) return -1;
      continue;
    }
    at++;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return at;
  }
  return -1;
}
