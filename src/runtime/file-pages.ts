// Pages of files that are part of this process: the runtime's own code above all, of which a start uses three times as much as what
// comes after it, and the packed program. They can be read again from the file whenever they are needed. Decides not when. Linux
// only: elsewhere this process has none that it knows of.
import { readFileSync } from 'node:fs';
import { dlopen } from 'bun:ffi';
import { unwrittenPages } from './page-map.ts';
import { packedProgram } from './packed-program.ts';

/** `MADV_DONTNEED` of Linux (include/uapi/asm-generic/mman-common.h): what is asked of the range next is read from its file. */
const NOT_NEEDED = 4;
/** `MADV_DONTDUMP`: what a crash leaves behind does not hold the range, of whose pages it would have none anyway. */
const NOT_DUMPED = 16;
/** Where the C library of this process is: glibc's, also under its older name, or musl's. */
const C_LIBRARY = /\/(?:libc\.so\.\d+|libc-[\d.]+\.so|ld-musl-[^/]+\.so\.\d+)$/;
/**
 * Where one page is missing, Linux brings those around it, 64 kB in all, but none from beyond the border of a range whose pages are
 * to be treated otherwise. Parts of this many bytes that differ in what nobody sees have such borders: a half of what a gateway held
 * of files were pages that had come with others. Smaller ones save a fifth more, and are twice as many.
 */
const PART_BYTES = 16_384;
/** Below it a mapping is not worth the parts. */
const WORTH_BYTES = 1_048_576;

type Advise = (from: number, bytes: number, advice: number) => void;

interface Range {
  readonly from: number;
  readonly bytes: number;
}

interface Mapping extends Range {
  readonly path: string;
  /** Of its beginning in the file. */
  readonly offset: number;
  /** True when all its pages are those of the file, and nobody can have others in their place. */
  readonly isOnlyFile: boolean;
}

/**
 * Prepares to take the pages of files that cannot be written out of this process, when it is first asked to: a start needs many of
 * them. The system keeps them for whoever needs them while it has room. A page that is used again comes back from there with a few
 * neighbours, within microseconds.
 * @returns what takes them out, which returns false where that cannot be done
 */
export function filePages(): () => boolean {
  let take: (() => boolean) | undefined;
  return () => {
    take ??= prepare() ?? (() => false);
    return take();
  };
}

function prepare(): (() => boolean) | null {
  const text = ownMappings();
  const mappings = mappingsIn(text);
  const advise = adviser(mappings);
  if (!advise) return null;
  const pageBytes = 1024 * Number(/^KernelPageSize: +(\d+) kB$/m.exec(text)?.[1] ?? 4);
  const fixed: readonly Range[] = mappings.filter(({ isOnlyFile }) => isOnlyFile);
  const program = packedProgram(mappings);
  for (const range of program ? [...fixed, program] : fixed) divide(range, advise);
  return () => {
    for (const { from, bytes } of fixed) advise(from, bytes, NOT_NEEDED);
    if (program)
      for (const { from, bytes } of unwrittenPages(program, pageBytes)) advise(from, bytes, NOT_NEEDED);
    return true;
  };
}

function adviser(mappings: readonly Mapping[]): Advise | null {
  const library = mappings.find(({ path }) => C_LIBRARY.test(path));
  if (!library) return null;
  try {
    const { symbols } = dlopen(library.path, {
      madvise: { args: ['ptr', 'u64', 'i32'], returns: 'i32' },
    });
    return (from, bytes, advice) => {
      symbols.madvise(from as Parameters<typeof symbols.madvise>[0], bytes, advice);
    };
  } catch {
    // A system may forbid to load a library, and to make the few instructions that call it.
    return null;
  }
}

/** Has what comes back into a range come in small parts. */
function divide({ from, bytes }: Range, advise: Advise): void {
  if (bytes < WORTH_BYTES) return;
  for (let at = PART_BYTES; at < bytes; at += 2 * PART_BYTES)
    advise(from + at, Math.min(PART_BYTES, bytes - at), NOT_DUMPED);
}

/**
 * Mappings of files.
 * @param text of `/proc/self/smaps` (Linux, Documentation/filesystems/proc.rst)
 */
export function mappingsIn(text: string): readonly Mapping[] {
  const mappings: Mapping[] = [];
  for (const part of text.split(/^(?=[\da-f]+-[\da-f]+ )/m)) {
    const [, from = '', to = '', flags = '', offset = '', path = ''] =
      /^([\da-f]+)-([\da-f]+) (\S{4}) ([\da-f]+) \S+ \d+ +(\/.*)$/m.exec(part) ?? [];
    if (path === '') continue;
    const start = Number.parseInt(from, 16);
    mappings.push({
      from: start,
      bytes: Number.parseInt(to, 16) - start,
      path,
      offset: Number.parseInt(offset, 16),
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
