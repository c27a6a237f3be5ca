// Byte strings: strings with one character per byte, the form in which event streams pass through the gateway.

/** True if a text is ASCII, so that it equals its byte string. */
export function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

/** Encodes a text as UTF-8 in a byte string. ASCII texts are returned without a copy. */
export function toByteString(text: string): string {
  return isAscii(text) ? text : Buffer.from(text).toString('latin1');
}

/** Decodes the UTF-8 of a byte string. */
export function fromByteString(bytes: string): string {
  return isAscii(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString();
}
