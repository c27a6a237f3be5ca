// Halves of surrogate pairs in a text of JSON, which stand there as escapes: its bytes are valid UTF-8.
import { isUnescapedIn } from './bytes.ts';
import { BACKSLASH, LETTER_U } from './text.ts';

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
