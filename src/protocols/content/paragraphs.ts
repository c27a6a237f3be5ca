// Joins pieces of reasoning into one text.

/** Separator between parts of an item, and between items. */
export const PARAGRAPH = '\n\n';

/** Returns the pieces as one text. Empty pieces are skipped. */
export function joinParagraphs(pieces: readonly string[]): string {
  return pieces.length === 1 ? (pieces[0] ?? '') : pieces.filter((piece) => piece !== '').join(PARAGRAPH);
}
