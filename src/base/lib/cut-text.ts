// Truncates texts that are too long to show whole.

/**
 * Truncates a text and appends an ellipsis, if it is too long.
 * @param most longest result without the ellipsis, in UTF-16 units
 */
export function cutText(text: string, most: number): string {
  return text.length > most ? `${startOf(text, most)}…` : text;
}

/** The start of a text. Never ends in half a surrogate pair. @param most UTF-16 units */
export function startOf(text: string, most: number): string {
  return text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
}
