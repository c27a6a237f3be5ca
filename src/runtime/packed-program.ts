// Where the packed program stands in the memory of this process: its source and what was compiled of it are a section of the
// executable, mapped as what may be written, though the runtime only reads it. Linux only.
import { closeSync, openSync, readlinkSync, readSync } from 'node:fs';

interface FileMapping {
  readonly from: number;
  readonly bytes: number;
  readonly path: string;
  readonly offset: number;
}

/** A part of a file. */
interface Part {
  readonly offset: number;
  readonly bytes: number;
}

type Read = (offset: number, bytes: number) => Buffer;

/** What the runtime calls the section. */
const SECTION = '.bun';
/** Every size that pages have divides it. */
const WHOLE_PAGES = 65_536;

/**
 * The program's place among the mappings of this process, without the pages that it shares with others.
 * @returns null when it is not packed, and elsewhere
 */
export function packedProgram(
  mappings: readonly FileMapping[],
): { readonly from: number; readonly bytes: number } | null {
  // As it was started, also when another has taken its place since.
  const executable = '/proc/self/exe';
  const section = sectionOf(executable, SECTION);
  if (!section) return null;
  const executablePath = readlinkSync(executable);
  const end = section.offset + section.bytes;
  const mapping = mappings.find(
    ({ path, offset, bytes }) => path === executablePath && offset <= section.offset && end <= offset + bytes,
  );
  if (!mapping) return null;
  const address = mapping.from - mapping.offset;
  const from = Math.ceil((address + section.offset) / WHOLE_PAGES) * WHOLE_PAGES;
  const to = Math.floor((address + end) / WHOLE_PAGES) * WHOLE_PAGES;
  return to > from ? { from, bytes: to - from } : null;
}

/**
 * A section of an executable file.
 * @returns null when it has none of this name, or cannot be read
 */
export function sectionOf(path: string, name: string): Part | null {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return null;
  }
  try {
    return findSection((offset, bytes) => {
      const part = Buffer.alloc(bytes);
      return part.subarray(0, readSync(file, part, 0, bytes, offset));
    }, name);
  } catch {
    // It is shorter than it says.
    return null;
  } finally {
    closeSync(file);
  }
}

/** Of an executable in the format of Linux with 64 bits, the lowest byte first (System V ABI, "Object Files"). */
function findSection(read: Read, name: string): Part | null {
  const head = read(0, 64);
  if (head.toString('latin1', 0, 6) !== '\x7fELF\x02\x01') return null;
  const size = head.readUInt16LE(58);
  const count = head.readUInt16LE(60);
  const table = read(Number(head.readBigUInt64LE(40)), size * count);
  const partAt = (at: number): Part => ({
    offset: Number(table.readBigUInt64LE(at * size + 24)),
    bytes: Number(table.readBigUInt64LE(at * size + 32)),
  });
  const texts = partAt(head.readUInt16LE(62));
  const names = read(texts.offset, Math.min(texts.bytes, WHOLE_PAGES));
  for (let at = 0; at < count; at++) {
    const start = table.readUInt32LE(at * size);
    if (names.toString('latin1', start, names.indexOf(0, start)) === name) return partAt(at);
  }
  return null;
}
