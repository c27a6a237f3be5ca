// Byte strings: one character for each byte, as event streams travel through the gateway.

/** True for a text that is its own byte string. */
export function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

/** The UTF-8 of a text as a byte string. Most texts are that already, and are not copied. */
export function toByteString(text: string): string {
  return isAscii(text) ? text : Buffer.from(text).toString('latin1');
}

/** The text whose UTF-8 a byte string is. */
export function fromByteString(bytes: string): string {
  return isAscii(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString();
}
