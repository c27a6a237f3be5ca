// Reads single members of a JSON object from its bytes, without parsing the rest: of requests that are refused before
// their body is parsed, and of answers that are edited. Validates only what it reads.
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

/** Longest member value that is read, in bytes. */
const MOST_BYTES = 8 * 1024;

/**
 * Visits the outermost members of an object.
 * @param take receives each member in order, duplicates included; returns false to stop
 * @returns true if the whole text was visited and looks like one object
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
 * Parses the members with these names, in one pass over the object.
 * @returns undefined if the text does not look like an object, or if one of these members is a duplicate or too long
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

/** @returns offset after the value; -1 if it does not end */
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
    // A backslash outside of a string is never valid.
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
