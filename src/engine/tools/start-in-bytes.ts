// Cuts text to a size in bytes. Knows nothing of what the text is.

/** The beginning of a text, never ending in half a character. @param most bytes of it in UTF-8 */
export function startInBytes(text: string, most: number): string {
  if (text.length <= most && Buffer.byteLength(text) <= most) return text;
  const bytes = Buffer.from(text.slice(0, most));
  let end = Math.min(most, bytes.length);
  // Bytes that continue a character begin with the bits 10 (RFC 3629 section 3).
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
