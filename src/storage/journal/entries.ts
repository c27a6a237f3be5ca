// Form of entries in a journal: length, checksum, kind, content. The same in its file and in memory, so that a recovery
// reads what an indexer reads.
import { crc32 } from 'node:zlib';

export interface Entry {
  /** Kind of the content: a number that a store has for its own. */
  readonly kind: number;
  readonly content: Uint8Array;
}

/** Length of kind and content together, and the CRC-32 of the content that begins with the kind: four bytes each, little-endian. */
const HEAD_BYTES = 8;
/** Bytes that an entry has besides its content. */
export const ENTRY_BYTES = HEAD_BYTES + 1;

/** End mark behind the last entry: a length of 0. Older entries may stand behind it. */
export const END_BYTES = 4;

/** Writes an entry and the end mark behind it. @returns where the mark begins: the next entry takes its place */
export function writeEntry(target: Buffer, start: number, kind: number, content: Uint8Array): number {
  const body = start + HEAD_BYTES;
  const end = body + 1 + content.length;
  target[body] = kind;
  target.set(content, body + 1);
  target.writeUInt32LE(1 + content.length, start);
  target.writeUInt32LE(crc32(content, kind), start + 4);
  target.writeUInt32LE(0, end);
  return end;
}

export interface ReadEntries {
  readonly entries: readonly Entry[];
  /** End of the last of them. */
  readonly end: number;
  /** False: what follows the last of them is no whole entry, because its writer died, is still writing, or by damage. */
  readonly isWhole: boolean;
}

/** The entries from `start` up to the end mark. Their contents are views of the bytes. */
export function readEntries(bytes: Buffer, start = 0, most = Infinity): ReadEntries {
  const entries: Entry[] = [];
  let at = start;
  while (entries.length < most && at < bytes.length) {
    const body = at + HEAD_BYTES;
    const length = at + END_BYTES <= bytes.length ? bytes.readUInt32LE(at) : Infinity;
    if (length === 0) break;
    const end = body + length;
    if (end > bytes.length) return { entries, end: at, isWhole: false };
    const kind = bytes[body] ?? 0;
    const content = new Uint8Array(bytes.buffer, bytes.byteOffset + body + 1, length - 1);
    if (crc32(content, kind) !== bytes.readUInt32LE(at + 4)) return { entries, end: at, isWhole: false };
    entries.push({ kind, content });
    at = end;
  }
  return { entries, end: at, isWhole: true };
}
