// How pieces of reasoning become one text. Knows no protocol.

/** Stands between parts of one item, and between items. */
export const PARAGRAPH = '\n\n';

/** The pieces as one text; empty ones leave no gap. */
export function joinParagraphs(pieces: readonly string[]): string {
  return pieces.length === 1 ? (pieces[0] ?? '') : pieces.filter((piece) => piece !== '').join(PARAGRAPH);
}
