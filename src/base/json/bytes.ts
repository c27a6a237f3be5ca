// The ends of what is written in the bytes of a JSON text (UTF-8). Parses nothing, and judges no grammar.
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  isSpace,
  LETTER_U,
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
function isUnescapedIn(bytes: Uint8Array, at: number, from: number): boolean {
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

// Halves of surrogate pairs in a text of JSON, which stand there as escapes: its bytes are valid UTF-8.

const DIGIT_8 = 56;
const DIGIT_9 = 57;
const LETTER_A = 97;
const LETTER_B = 98;
const LETTER_C = 99;
const LETTER_D = 100;
const LETTER_F = 102;
/** Makes letters lower case and leaves digits as they are. */
const LOWER_CASE = 32;

const NO_HALF = 0;
const FIRST_HALF = 1;
const SECOND_HALF = 2;

/** Surrogate half that an escape at an offset stands for, if its backslash is not itself escaped. */
function halfAt(bytes: Buffer, at: number): number {
  if (at + 4 > bytes.length || bytes[at] !== BACKSLASH) return NO_HALF;
  if (bytes[at + 1] !== LETTER_U || ((bytes[at + 2] ?? 0) | LOWER_CASE) !== LETTER_D) return NO_HALF;
  // The third digit tells them apart: 8 to b, c to f.
  const digit = (bytes[at + 3] ?? 0) | LOWER_CASE;
  if (digit >= LETTER_C && digit <= LETTER_F) return SECOND_HALF;
  return digit === DIGIT_8 || digit === DIGIT_9 || digit === LETTER_A || digit === LETTER_B
    ? FIRST_HALF
    : NO_HALF;
}

/** Offset of the next escape that may be half of a pair; behind everything where there is none. */
export function nextHalf(bytes: Buffer, from: number): number {
  let at = bytes.indexOf('\\u', from);
  while (at >= 0 && halfAt(bytes, at) === NO_HALF) {
    // Writers that escape one character escape the next one as well.
    const next = at + 6;
    const isNext = bytes[next] === BACKSLASH && bytes[next + 1] === LETTER_U;
    at = isNext ? next : bytes.indexOf('\\u', at + 2);
  }
  return at < 0 ? Number.MAX_SAFE_INTEGER : at;
}

/**
 * Offset of the first escape in a string that is one half without the other; else of what may be the next one behind it.
 * @param half the first candidate
 */
export function unpairedFrom(bytes: Buffer, half: number, from: number, end: number): number {
  let at = half;
  while (at < end) {
    if (!isUnescapedIn(bytes, at, from)) at = nextHalf(bytes, at + 1);
    else if (halfAt(bytes, at) !== FIRST_HALF || halfAt(bytes, at + 6) !== SECOND_HALF) return at;
    else at = halfAt(bytes, at + 12) === NO_HALF ? nextHalf(bytes, at + 12) : at + 12;
  }
  return at;
}
