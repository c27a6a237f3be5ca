// Sets of characters. The runtime's regular expressions are applied only to single characters, so no pattern can be
// slow.

export interface CharSet {
  /** @param codePoint Unicode code point; a lone surrogate counts as one */
  has(codePoint: number): boolean;
}

/** Set of one character, optionally ignoring case. */
export function exactly(codePoint: number, ignoreCase: boolean): CharSet {
  return ignoreCase
    ? membersSet(literal(codePoint), false, true)
    : { has: (candidate) => candidate === codePoint };
}

/**
 * Set of a character class.
 * @param members the text between its brackets, in ECMAScript's syntax with the flag `v`
 * @throws SyntaxError for members that the runtime does not know
 */
export function membersSet(members: string, negated: boolean, ignoreCase: boolean): CharSet {
  const one = new RegExp(`^[${negated ? '^' : ''}${members}]$`, ignoreCase ? 'iv' : 'v');
  // 0: not tested yet. Nearly all text is ASCII, and a table lookup costs a tenth of a match.
  const ascii = new Uint8Array(128);
  return {
    has(codePoint) {
      if (codePoint >= ascii.length) return one.test(String.fromCodePoint(codePoint));
      if (ascii[codePoint] === 0) ascii[codePoint] = one.test(String.fromCharCode(codePoint)) ? 1 : 2;
      return ascii[codePoint] === 1;
    },
  };
}

/** A character escaped as a member of a class. */
export function literal(codePoint: number): string {
  return `\\u{${codePoint.toString(16)}}`;
}
