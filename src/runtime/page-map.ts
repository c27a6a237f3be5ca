// Which pages of a range of this process are those of its file still: what Linux tells of each page. Decides nothing.
import { closeSync, openSync, readSync } from 'node:fs';

/** Of a range whose pages Linux describes with eight bytes each (Documentation/admin-guide/mm/pagemap.rst). */
const ENTRY_BYTES = 8;
/** In the last of the eight: it is in memory, it is on disk as nobody's file, it is a file's. */
const PRESENT = 0x80;
const SWAPPED = 0x40;
const OF_A_FILE = 0x20;

interface Range {
  readonly from: number;
  readonly bytes: number;
}

/**
 * The parts of a range of which nobody has written a page since it was mapped. Nothing says so of a page that is being written
 * just now: only for what nobody writes, where it is the proof.
 * @param range of whole pages
 * @param pageBytes of this machine
 * @returns none where the system does not tell
 */
export function unwrittenPages({ from, bytes }: Range, pageBytes: number): readonly Range[] {
  const entries = readEntries(from / pageBytes, bytes / pageBytes);
  const count = entries.length / ENTRY_BYTES;
  const ranges: Range[] = [];
  let start = 0;
  for (let page = 0; page <= count; page++) {
    const flags = page < count ? (entries[page * ENTRY_BYTES + ENTRY_BYTES - 1] ?? 0) : SWAPPED;
    const isWritten = (flags & SWAPPED) !== 0 || (flags & (PRESENT | OF_A_FILE)) === PRESENT;
    if (!isWritten) continue;
    if (page > start) ranges.push({ from: from + start * pageBytes, bytes: (page - start) * pageBytes });
    start = page + 1;
  }
  return ranges;
}

function readEntries(first: number, count: number): Uint8Array {
  const entries = new Uint8Array(count * ENTRY_BYTES);
  try {
    const file = openSync('/proc/self/pagemap', 'r');
    try {
      const read = readSync(file, entries, 0, entries.length, first * ENTRY_BYTES);
      return entries.subarray(0, read - (read % ENTRY_BYTES));
    } finally {
      closeSync(file);
    }
  } catch {
    return new Uint8Array();
  }
}
