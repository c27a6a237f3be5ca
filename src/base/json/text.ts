// Letters of JSON, the ends of what is written with them, in texts and in bytes (UTF-8), and how much a text opens. Parses
// nothing, and judges no grammar.

export const QUOTE = 34;
export const COMMA = 44;
export const COLON = 58;
export const OPEN_BRACKET = 91;
export const BACKSLASH = 92;
export const CLOSE_BRACKET = 93;
export const OPEN_BRACE = 123;
export const CLOSE_BRACE = 125;
export const LETTER_U = 117;

/** True for white space of JSON's. */
export function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}

/** @param from offset behind the opening quote; @returns offset behind the closing one, -1 where there is none */
function stringEnd(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at > from && text.charCodeAt(at - 1) === BACKSLASH && !isUnescaped(text, at, from)) {
    // An escaped quote is often followed by another one nearby: a search for each anew costs far more.
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

/** Characters of a string that are looked at one by one before its quote is searched for: most strings are short. */
const NEAR = 32;

/** True when the character at an offset has no backslash that counts before it. @param from where its string begins */
function isUnescaped(text: string, at: number, from: number): boolean {
  let before = at;
  while (before > from && text.charCodeAt(before - 1) === BACKSLASH) before--;
  return (at - before) % 2 === 0;
}

const AS_IT_IS = /^[\w\-./:@ ]*$/;

/** True for a text that JSON writes as it is, in ASCII, as names of members and models are; for others it may be. */
export function isWrittenAsIs(text: string): boolean {
  return AS_IT_IS.test(text);
}

// How much a text of JSON opens, and how deep: asked of what upstreams and tools send before anybody parses it.

/**
 * True when a text opens more than `most` objects and arrays; it need not be JSON.
 * @param most a text of less than twice as many characters is not even looked at
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
 * True when objects and arrays nest deeper than `most` levels in a text, which need not be JSON.
 * @param most a text of less than twice as many characters is not even looked at
 */
export function nestsDeeper(text: string, most: number): boolean {
  const { length } = text;
  // Every level has an end, or the text is no JSON.
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

/** True for a text with more opening brackets than so many, in strings or not: most answers have a few, found at once. */
function hasMoreBrackets(text: string, most: number): boolean {
  let left = most;
  for (let at = text.indexOf('{'); at >= 0; at = text.indexOf('{', at + 1)) if (--left < 0) return true;
  for (let at = text.indexOf('['); at >= 0; at = text.indexOf('[', at + 1)) if (--left < 0) return true;
  return false;
}

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
