// Lists of names that may be used: models of a key, objects of an account. Names, or patterns in which `*` stands for any
// characters.

/**
 * Compiles an allow-list once.
 * @param patterns null means every name; an empty list means none
 */
export function compileNamePatterns(patterns: readonly string[] | null): (name: string) => boolean {
  if (patterns === null) return () => true;
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const globs = patterns.filter((pattern) => pattern.includes('*')).map((pattern) => pattern.split('*'));
  return (name) => exact.has(name) || globs.some((pieces) => matches(name, pieces));
}

/** Takes each piece at its first occurrence: linear, where a regular expression of many stars could be made to hang. */
function matches(text: string, pieces: readonly string[]): boolean {
  const first = pieces[0] ?? '';
  const last = pieces.at(-1) ?? '';
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
    return false;
  let from = first.length;
  const end = text.length - last.length;
  for (let i = 1; i < pieces.length - 1; i++) {
    const piece = pieces[i] ?? '';
    const at = text.indexOf(piece, from);
    if (at < 0 || at + piece.length > end) return false;
    from = at + piece.length;
  }
  return true;
}
