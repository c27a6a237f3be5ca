// Sets of characters. The runtime's own regular expressions decide about one character at a time, which no pattern can
// make slow; whole texts are never given to them.

export interface CharSet {
  /** @param codePoint of Unicode; a lone surrogate counts as one */
  has(codePoint: number): boolean;
}

/** The set of one character, and of its other case where that is wanted. */
export function exactly(codePoint: number, ignoreCase: boolean): CharSet {
  return ignoreCase
    ? membersSet(literal(codePoint), false, true)
    : { has: (candidate) => candidate === codePoint };
}

/**
 * The set of a character class.
 * @param members what stands between its brackets, in ECMAScript's syntax under the flag `v`
 * @throws SyntaxError for members that the runtime does not know
 */
export function membersSet(members: string, negated: boolean, ignoreCase: boolean): CharSet {
  const one = new RegExp(`^[${negated ? '^' : ''}${members}]$`, ignoreCase ? 'iv' : 'v');
  // 0: not asked yet. Nearly all text is ASCII, and a look into a table costs a tenth of a match.
  const ascii = new Uint8Array(128);
  return {
    has(codePoint) {
      if (codePoint >= ascii.length) return one.test(String.fromCodePoint(codePoint));
      if (ascii[codePoint] === 0) ascii[codePoint] = one.test(String.fromCharCode(codePoint)) ? 1 : 2;
      return ascii[codePoint] === 1;
    },
  };
}

/** A character as a member of a class, whatever it means there by itself. */
export function literal(codePoint: number): string {
  return `\\u{${codePoint.toString(16)}}`;
}
