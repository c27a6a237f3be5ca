// Characters of JSON, and functions that find where strings, numbers and words end, in texts and in UTF-8 bytes. Also checks
// how many objects and arrays a text opens, and how deep they nest. Neither parses nor validates.

export const QUOTE = 34;
export const COMMA = 44;
export const COLON = 58;
export const OPEN_BRACKET = 91;
export const BACKSLASH = 92;
export const CLOSE_BRACKET = 93;
export const OPEN_BRACE = 123;
export const CLOSE_BRACE = 125;
export const LETTER_U = 117;

/** True for JSON white space. */
export function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}

/** @param from offset after the opening quote; @returns offset after the closing quote, -1 if there is none */
function stringEnd(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at > from && text.charCodeAt(at - 1) === BACKSLASH && !isUnescaped(text, at, from)) {
    // Another escaped quote is often close by, and a new search for each costs far more.
    let near = at + 1;
    for (let left = NEAR; left > 0 && near < text.length; left--) {
      const code = text.charCodeAt(near);
      if (code === QUOTE) return near + 1;
      if (code === BACKSLASH) {
        near++;
        left = NEAR;
      }
      near++;
    }
    at = text.indexOf('"', near);
  }
  return at < 0 ? -1 : at + 1;
}

/** Characters of a string that are checked one by one before `indexOf` is used. Most strings are shorter. */
const NEAR = 32;

/** True if the character at an offset is not escaped. @param from offset at which its string begins */
function isUnescaped(text: string, at: number, from: number): boolean {
  let before = at;
  while (before > from && text.charCodeAt(before - 1) === BACKSLASH) before--;
  return (at - before) % 2 === 0;
}

const NO_ESCAPES = /^[\w\-./:@ ]*$/;

/** True for ASCII text that JSON writes without escapes, such as names of members and models. False: it may need escapes. */
export function isWrittenAsIs(text: string): boolean {
  return NO_ESCAPES.test(text);
}

/**
 * True if a text opens more than `most` objects and arrays. The text need not be valid JSON.
 * @param most texts of at most twice as many characters are not scanned
 */
export function opensMore(text: string, most: number): boolean {
  if (text.length <= 2 * most) return false;
  let opened = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = stringEnd(text, at + 1) - 1;
      if (at < 0) return false;
    } else if ((code === OPEN_BRACE || code === OPEN_BRACKET) && ++opened > most) return true;
  }
  return false;
}

/**
 * True if objects and arrays nest deeper than `most` levels. The text need not be valid JSON.
 * @param most texts of at most twice as many characters are not scanned
 */
export function nestsDeeper(text: string, most: number): boolean {
  const { length } = text;
  // Valid JSON closes every level, so that each takes two characters.
  if (length <= 2 * most || !hasMoreBrackets(text, most)) return false;
  let levels = 0;
  let at = 0;
  while (at < length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = stringEnd(text, at + 1);
      if (at < 0) return false;
      continue;
    }
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++levels > most) return true;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) levels--;
    at++;
  }
  return false;
}

/** True if a text has more than `most` opening brackets, inside of strings or not. Most answers have few, so this is fast. */
function hasMoreBrackets(text: string, most: number): boolean {
  let left = most;
  for (let at = text.indexOf('{'); at >= 0; at = text.indexOf('{', at + 1)) if (--left < 0) return true;
  for (let at = text.indexOf('['); at >= 0; at = text.indexOf('[', at + 1)) if (--left < 0) return true;
  return false;
}

/** Offset of the first byte that is not JSON white space; the length if there is none. */
export function skipSpaceIn(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && isSpace(bytes[at] ?? 0)) at++;
  return at;
}

/** @param from offset after the opening quote; @returns offset after the closing quote, -1 if there is none */
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

/** True if the byte at an offset is not escaped. @param from offset at which its string begins */
function isUnescapedIn(bytes: Uint8Array, at: number, from: number): boolean {
  let before = at;
  while (before > from && bytes[before - 1] === BACKSLASH) before--;
  return (at - before) % 2 === 0;
}

/** A member name with its escapes resolved; undefined if an escape is invalid. */
export function nameIn(bytes: Buffer, from: number, end: number): string | undefined {
  const name = bytes.toString('utf8', from, end);
  if (!name.includes('\\')) return name;
  try {
    return JSON.parse(`"${name}"`) as string;
  } catch {
    return undefined;
  }
}

/** Offset after a number, `true`, `false` or `null`, or after an invalid word in its place. */
export function scalarEndIn(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && ENDS_SCALAR[bytes[at] ?? 0] === 0) at++;
  return at;
}

/** 1 for each byte that ends a number or a word. */
const ENDS_SCALAR = new Uint8Array(256);
ENDS_SCALAR.fill(1, 0, 33);
for (const byte of [QUOTE, COMMA, COLON, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET])
  ENDS_SCALAR[byte] = 1;

// Unpaired surrogates. In valid UTF-8 they can occur only as `\u` escapes.

const DIGIT_8 = 56;
const DIGIT_9 = 57;
const LETTER_A = 97;
const LETTER_B = 98;
const LETTER_C = 99;
const LETTER_D = 100;
const LETTER_F = 102;
/** Bit that makes an ASCII letter lower case and leaves a digit unchanged. */
const LOWER_CASE = 32;

const NO_HALF = 0;
const FIRST_HALF = 1;
const SECOND_HALF = 2;

/** Which surrogate half the escape at an offset encodes, provided that its backslash is not itself escaped. */
function halfAt(bytes: Buffer, at: number): number {
  if (at + 4 > bytes.length || bytes[at] !== BACKSLASH) return NO_HALF;
  if (bytes[at + 1] !== LETTER_U || ((bytes[at + 2] ?? 0) | LOWER_CASE) !== LETTER_D) return NO_HALF;
  // The third hex digit is 8 to b in the first half, c to f in the second.
  const digit = (bytes[at + 3] ?? 0) | LOWER_CASE;
  if (digit >= LETTER_C && digit <= LETTER_F) return SECOND_HALF;
  return digit === DIGIT_8 || digit === DIGIT_9 || digit === LETTER_A || digit === LETTER_B
    ? FIRST_HALF
    : NO_HALF;
}

/** Offset of the next escape that may encode half of a pair; `MAX_SAFE_INTEGER` if there is none. */
export function nextHalf(bytes: Buffer, from: number): number {
  let at = bytes.indexOf('\\u', from);
  while (at >= 0 && halfAt(bytes, at) === NO_HALF) {
    // Encoders that escape one character usually escape the next one, too.
    const next = at + 6;
    const isNext = bytes[next] === BACKSLASH && bytes[next + 1] === LETTER_U;
    at = isNext ? next : bytes.indexOf('\\u', at + 2);
  }
  return at < 0 ? Number.MAX_SAFE_INTEGER : at;
}

/**
 * Offset of the first unpaired surrogate in a string. If there is none, the offset of the next candidate after the string.
 * @param half offset of the first candidate
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
