// The ends of what is written in the bytes of a JSON text (UTF-8). Parses nothing, and judges no grammar.
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  isSpace,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './text.ts';

/** Bytes of a string that are looked at one by one before its quote is searched for: most strings are short. */
const NEAR = 32;

/** Offset of the first byte that is no white space of JSON's; the length where there is none. */
export function skipSpaceIn(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && isSpace(bytes[at] ?? 0)) at++;
  return at;
}

/** @param from offset behind the opening quote; @returns offset behind the closing one, -1 where there is none */
export function stringEndIn(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  let at = from;
  while (at < length) {
    const near = Math.min(at + NEAR, length);
    while (at < near) {
      const byte = bytes[at];
      if (byte === QUOTE) return at + 1;
      at += byte === BACKSLASH ? 2 : 1;
    }
    const quote = bytes.indexOf(QUOTE, at);
    if (quote < 0) return -1;
    if (isUnescapedIn(bytes, quote, at)) return quote + 1;
    at = quote + 1;
  }
  return -1;
}

/** True when the byte at an offset has no backslash that counts before it. @param from where its string begins */
export function isUnescapedIn(bytes: Uint8Array, at: number, from: number): boolean {
  let before = at;
  while (before > from && bytes[before - 1] === BACKSLASH) before--;
  return (at - before) % 2 === 0;
}

/** A name as it is meant, whatever is escaped; undefined when its escapes are none of JSON. */
export function nameIn(bytes: Buffer, from: number, end: number): string | undefined {
  const name = bytes.toString('utf8', from, end);
  if (!name.includes('\\')) return name;
  try {
    return JSON.parse(`"${name}"`) as string;
  } catch {
    return undefined;
  }
}

/** Offset behind a number, `true`, `false` or `null`; or behind whatever stands there instead. */
export function scalarEndIn(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && ENDS_SCALAR[bytes[at] ?? 0] === 0) at++;
  return at;
}

/** 1 for the bytes that end a number or a word. */
const ENDS_SCALAR = new Uint8Array(256);
ENDS_SCALAR.fill(1, 0, 33);
for (const byte of [QUOTE, COMMA, COLON, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET])
  ENDS_SCALAR[byte] = 1;
