// Letters of JSON, the ends of what is written with them, and how much a text opens. Parses nothing, and judges no grammar.

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

/** Plain characters behind an escape that are looked at one by one. */
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
