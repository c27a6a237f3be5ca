// The strings of a JSON text, read one after the other from its beginning to its end: quotes and backslashes are searched
// for, and for each place once, so that long plain texts cost next to nothing. One walk at a time.
import { BACKSLASH, LETTER_U } from './json-text.ts';

/** Offset of the first backslash at or behind the last string that was read; in front of it: it is to be found anew. */
let nextSlash = -1;
/** Whether the string that was read last has an escape that is none of JSON. */
let isBad = false;
/** 1 for the letters that stand behind a backslash alone. */
const SHORT_ESCAPES = new Uint8Array(128);
for (const letter of '"\\/bfnrt') SHORT_ESCAPES[letter.charCodeAt(0)] = 1;
const HEX = /[\dA-Fa-f]{4}/y;

/**
 * Offset behind the closing quote of a string, which is not before that of the last one; -1 where there is none.
 * @param from offset behind the opening quote
 */
export function textEnd(text: string, from: number): number {
  let quote = text.indexOf('"', from);
  let slash = nextSlash < from ? slashFrom(text, from) : nextSlash;
  let bad = false;
  while (slash < quote) {
    const code = text.charCodeAt(slash + 1);
    const at = slash + 2;
    if (SHORT_ESCAPES[code] !== 1 && !(code === LETTER_U && isHex(text, at))) bad = true;
    slash = text.charCodeAt(at) === BACKSLASH ? at : slashFrom(text, at);
    if (quote < at) quote = text.indexOf('"', at);
  }
  nextSlash = slash;
  isBad = bad;
  return quote < 0 ? -1 : quote + 1;
}

function isHex(text: string, at: number): boolean {
  HEX.lastIndex = at;
  return HEX.test(text);
}

/** To be called before the first string of another text. */
export function beginStrings(): void {
  nextSlash = -1;
}

/** True when an escape of the string that was read last is none of JSON. */
export function hadBadEscape(): boolean {
  return isBad;
}

/** The end of the text where there is none. */
function slashFrom(text: string, from: number): number {
  const at = text.indexOf('\\', from);
  return at < 0 ? text.length : at;
}
