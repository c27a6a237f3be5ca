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

/** The beginning of a text, never ending in half a character. @param most bytes of it in UTF-8 */
export function startInBytes(text: string, most: number): string {
  if (text.length <= most && Buffer.byteLength(text) <= most) return text;
  const bytes = Buffer.from(text.slice(0, most));
  let end = Math.min(most, bytes.length);
  // Bytes that continue a character begin with the bits 10 (RFC 3629 section 3).
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
