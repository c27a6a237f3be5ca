// Reads files that a configuration names. Each is opened once, without waiting for anybody, and must be a regular file of
// bounded size: devices and pipes would stop the process in one synchronous read. Knows nothing of what files hold.
import { TEXTS } from '../../canonical/index.ts';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** Most bytes of a configured file. Larger ones are mistakes. */
const MOST_FILE_BYTES = 1_048_576;

/** Reason of the file system, in words. The path is the caller's to quote. */
const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'ENOENT: no such file or directory',
  EACCES: 'EACCES: permission denied',
  ENXIO: TEXTS.notRegularFile,
  EISDIR: 'EISDIR: it is a directory',
  ELOOP: 'ELOOP: too many links',
};

/**
 * The text of a regular file.
 * @param mostBytes refuses files that are larger
 * @throws Error that says why, without the path and without anything of the file
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
    // A pipe that nobody writes to would make a plain open wait for ever.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    const words = typeof code === 'string' ? (WORDS[code] ?? code) : 'it cannot be opened';
    throw Object.assign(new Error(words), { code });
  }
}

/** Reads to the end: files such as those of `/proc` state no size. */
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
