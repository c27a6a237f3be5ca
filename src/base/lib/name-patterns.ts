// Allow-lists of names, such as the models of a key. Entries are names, or patterns with `*` for any characters.

/**
 * Compiles an allow-list once.
 * @param patterns null allows every name, an empty list none
 */
export function compileNamePatterns(patterns: readonly string[] | null): (name: string) => boolean {
  if (patterns === null) return () => true;
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const globs = patterns.filter((pattern) => pattern.includes('*')).map((pattern) => pattern.split('*'));
  return (name) => exact.has(name) || globs.some((pieces) => matches(name, pieces));
}

/** Matches each piece at its first occurrence. Linear, unlike a regular expression with many stars. */
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
