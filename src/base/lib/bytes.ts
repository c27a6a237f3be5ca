// Two forms of bytes: slices, which are sent without being joined first, and byte strings.

export type Slices = readonly Uint8Array[];

/** The UTF-8 of a text. */
export function slicesOf(text: string): Slices {
  return text === '' ? [] : [Buffer.from(text)];
}

/** Total number of bytes. */
export function bytesIn(slices: Slices): number {
  let bytes = 0;
  for (const slice of slices) bytes += slice.length;
  return bytes;
}

/** Joins slices. A single slice is not copied. */
export function joined(slices: Slices): Buffer {
  const [only] = slices;
  if (only === undefined || slices.length > 1) return Buffer.concat(slices);
  return Buffer.from(only.buffer, only.byteOffset, only.length);
}

/** The slices without their first `bytes` bytes. */
export function behind(slices: Slices, bytes: number): Slices {
  let left = bytes;
  for (const [at, slice] of slices.entries()) {
    if (left < slice.length) return [slice.subarray(left), ...slices.slice(at + 1)];
    left -= slice.length;
  }
  return [];
}

/** The first bytes as one slice, copied into a reusable buffer. A first slice that is at least as large is not copied. */
export function beginning(slices: Slices, memory: Uint8Array): Uint8Array {
  const [first] = slices;
  if (first && (slices.length === 1 || first.length >= memory.length)) return first;
  let filled = 0;
  for (const slice of slices) {
    const room = memory.length - filled;
    memory.set(slice.length > room ? slice.subarray(0, room) : slice, filled);
    filled += Math.min(slice.length, room);
    if (filled === memory.length) break;
  }
  return memory.subarray(0, filled);
}

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
