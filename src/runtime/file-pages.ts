// Pages of files that are part of this process: the runtime's own code above all, of which a start uses three times as much as what
// comes after it. They can be read again from the file whenever they are needed. Decides nothing. Linux only: elsewhere this
// process has none that it knows of.
import { readFileSync } from 'node:fs';
import { dlopen } from 'bun:ffi';

/** `MADV_DONTNEED` of Linux (include/uapi/asm-generic/mman-common.h): what is asked of the range next is read from its file. */
const NOT_NEEDED = 4;
/** Where the C library of this process is: glibc's, also under its older name, or musl's. */
const C_LIBRARY = /\/(?:libc\.so\.\d+|libc-[\d.]+\.so|ld-musl-[^/]+\.so\.\d+)$/;

interface Mapping {
  readonly from: number;
  readonly bytes: number;
  readonly path: string;
  /** True when all its pages are those of the file, and nobody can have others in their place. */
  readonly isOnlyFile: boolean;
}

/**
 * Takes the pages of files that cannot be written out of this process: the system keeps them for whoever needs them while it has
 * room. A page that is used again comes back with its neighbours within microseconds, from there.
 * @returns false where that cannot be done
 */
export function releaseFilePages(): boolean {
  const mappings = mappingsIn(ownMappings());
  const library = mappings.find(({ path }) => C_LIBRARY.test(path));
  if (!library) return false;
  try {
    const { symbols, close } = dlopen(library.path, {
      madvise: { args: ['ptr', 'u64', 'i32'], returns: 'i32' },
    });
    for (const { from, bytes, isOnlyFile } of mappings)
      if (isOnlyFile) symbols.madvise(from as Parameters<typeof symbols.madvise>[0], bytes, NOT_NEEDED);
    close();
    return true;
  } catch {
    // A system may forbid to load a library, and to make the few instructions that call it.
    return false;
  }
}

/**
 * Mappings of files.
 * @param text of `/proc/self/smaps` (Linux, Documentation/filesystems/proc.rst)
 */
export function mappingsIn(text: string): readonly Mapping[] {
  const mappings: Mapping[] = [];
  for (const part of text.split(/^(?=[\da-f]+-[\da-f]+ )/m)) {
    const [, from = '', to = '', flags = '', path = ''] =
      /^([\da-f]+)-([\da-f]+) (\S{4}) \S+ \S+ \d+ +(\/.*)$/m.exec(part) ?? [];
    if (path === '') continue;
    const start = Number.parseInt(from, 16);
    mappings.push({
      from: start,
      bytes: Number.parseInt(to, 16) - start,
      path,
      // Pages that were written once are the process's own: what was in them would be lost.
      isOnlyFile: !flags.includes('w') && /^Anonymous: +0 kB$/m.test(part),
    });
  }
  return mappings;
}

function ownMappings(): string {
  try {
    return readFileSync('/proc/self/smaps', 'latin1');
  } catch {
    return '';
  }
}
