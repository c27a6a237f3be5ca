// How much a text of JSON opens, and how deep: asked of what upstreams and tools send before anybody parses it.
import { CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE, OPEN_BRACKET, QUOTE, stringEnd } from './text.ts';

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
