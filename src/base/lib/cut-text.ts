// Cuts text that is longer than its reader wants. Knows nothing of what the text is.

/**
 * The text, or its beginning with an ellipsis behind it.
 * @param most UTF-16 units of the beginning
 */
export function cutText(text: string, most: number): string {
  return text.length > most ? `${startOf(text, most)}…` : text;
}

/** The beginning of a text, never ending in half a character. @param most UTF-16 units */
export function startOf(text: string, most: number): string {
  return text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
}
