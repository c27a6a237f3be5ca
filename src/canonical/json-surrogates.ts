// Halves of surrogate pairs in a text of JSON, which stand there as escapes: the text itself was decoded from UTF-8.
import { BACKSLASH, isUnescaped, LETTER_U } from './json-text.ts';

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

/** What an escape at an offset would be, if its backslash is not itself escaped. */
function halfAt(text: string, at: number): number {
  if (at + 4 > text.length || text.charCodeAt(at) !== BACKSLASH) return NO_HALF;
  if (text.charCodeAt(at + 1) !== LETTER_U || (text.charCodeAt(at + 2) | LOWER_CASE) !== LETTER_D)
    return NO_HALF;
  // The third digit tells them apart: 8 to b, c to f.
  const digit = text.charCodeAt(at + 3) | LOWER_CASE;
  if (digit >= LETTER_C && digit <= LETTER_F) return SECOND_HALF;
  return digit === DIGIT_8 || digit === DIGIT_9 || digit === LETTER_A || digit === LETTER_B
    ? FIRST_HALF
    : NO_HALF;
}

/** Offset of the next escape that may be half of a pair; behind everything where there is none. */
export function nextHalf(text: string, from: number): number {
  // Most texts have no backslash at all, which is the cheaper question.
  const first = text.indexOf('\\', from);
  let at = first < 0 ? -1 : text.indexOf('\\u', first);
  while (at >= 0 && halfAt(text, at) === NO_HALF) {
    // Writers that escape one character escape the next one as well.
    const next = at + 6;
    const isNext = text.charCodeAt(next) === BACKSLASH && text.charCodeAt(next + 1) === LETTER_U;
    at = isNext ? next : text.indexOf('\\u', at + 2);
  }
  return at < 0 ? Number.MAX_SAFE_INTEGER : at;
}

/**
 * Offset of the first escape in a string that is one half without the other; else of what may be the next one behind it.
 * @param half the first candidate
 */
export function unpairedFrom(text: string, half: number, from: number, end: number): number {
  let at = half;
  while (at < end) {
    if (!isUnescaped(text, at, from)) at = nextHalf(text, at + 1);
    else if (halfAt(text, at) !== FIRST_HALF || halfAt(text, at + 6) !== SECOND_HALF) return at;
    else at = halfAt(text, at + 12) === NO_HALF ? nextHalf(text, at + 12) : at + 12;
  }
  return at;
}
