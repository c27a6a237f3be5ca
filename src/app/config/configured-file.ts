// Reads files named in the configuration. Opened once without blocking, and must be regular files of bounded size,
// because devices and pipes would block the process.
import { TEXTS } from '../../canonical/index.ts';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** Maximum bytes of a configured file; larger ones are mistakes. */
const MOST_FILE_BYTES = 1_048_576;

/** File system errors as text, without the path, which the caller adds. */
const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'ENOENT: no such file or directory',
  EACCES: 'EACCES: permission denied',
  ENXIO: TEXTS.notRegularFile,
  EISDIR: 'EISDIR: is a directory',
  ELOOP: 'ELOOP: too many symbolic links',
};

/**
 * Text of a regular file.
 * @param mostBytes maximum size
 * @throws Error with the reason, without the path and the file's content
 */
export function readConfiguredFile(path: string, mostBytes: number = MOST_FILE_BYTES): string {
  const file = open(path);
  try {
    const stats = fstatSync(file);
    if (stats.isDirectory()) throw new Error(WORDS['EISDIR']);
    if (!stats.isFile()) throw new Error(TEXTS.notRegularFile);
    if (stats.size > mostBytes) throw new Error(`it is larger than ${mostBytes} bytes`);
    return readWhole(file, mostBytes);
  } finally {
    closeSync(file);
  }
}

function open(path: string): number {
  try {
    // Opening a pipe without a writer would otherwise block forever.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    const words = typeof code === 'string' ? (WORDS[code] ?? code) : 'it cannot be opened';
    throw Object.assign(new Error(words), { code });
  }
}

/** Reads to the end, because files such as those of `/proc` have no size. */
function readWhole(file: number, mostBytes: number): string {
  const bytes = Buffer.allocUnsafe(64 * 1024);
  const pieces: Buffer[] = [];
  let total = 0;
  for (;;) {
    const read = readSync(file, bytes, 0, bytes.length, null);
    if (read === 0) return Buffer.concat(pieces).toString('utf8');
    total += read;
    if (total > mostBytes) throw new Error(`it is larger than ${mostBytes} bytes`);
    pieces.push(Buffer.from(bytes.subarray(0, read)));
  }
}
