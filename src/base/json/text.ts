// The letters of JSON and the ends of what is written with them. Parses nothing, and judges no grammar.

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

/** Offset of the first character that is no white space of JSON's. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && isSpace(text.charCodeAt(at))) at++;
  return at;
}

/** @param from offset behind the opening quote; @returns offset behind the closing one, -1 where there is none */
export function stringEnd(text: string, from: number): number {
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
export const NEAR = 32;

/** True when the character at an offset has no backslash that counts before it. @param from where its string begins */
export function isUnescaped(text: string, at: number, from: number): boolean {
  let before = at;
  while (before > from && text.charCodeAt(before - 1) === BACKSLASH) before--;
  return (at - before) % 2 === 0;
}

const AS_IT_IS = /^[\w\-./:@ ]*$/;

/** True for a text that JSON writes as it is, in ASCII, as names of members and models are; for others it may be. */
export function isWrittenAsIs(text: string): boolean {
  return AS_IT_IS.test(text);
}
