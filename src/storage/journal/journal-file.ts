// Files of a process's journal, one per piece. Once all entries of a file are in the database, it is reused, or deleted if
// another file follows or the process stops. Files are created with the first entry, so that commands that write nothing
// leave none behind.
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { lockFile } from '../../base/runtime/sqlite.ts';
import { END_BYTES } from './entries.ts';
import type { JournalTarget } from './journal.ts';

/** Suffix of the lock file beside a journal. Its process holds the lock while it is alive. */
export const LOCK_SUFFIX = '.lock';

const END = new Uint8Array(END_BYTES);

export class JournalFiles {
  readonly #path: string;
  readonly #suffix: string;
  readonly #open = new Set<JournalFile>();
  #unlock: (() => void) | undefined;
  #made = 0;

  /**
   * @param path path of the first file without suffix; the others also have a number
   * @param suffix suffix of all files
   */
  constructor(path: string, suffix: string) {
    this.#path = path;
    this.#suffix = suffix;
  }

  /** Creates the file of the next piece. Its name sorts after all earlier ones. */
  next(): JournalTarget {
    const number = this.#made === 0 ? '' : `.${String(this.#made).padStart(6, '0')}`;
    this.#made += 1;
    const file = new JournalFile(this.#path + number + this.#suffix, () => this.#lock(file), this.#open);
    return file;
  }

  /** Closes the files, and deletes empty ones. */
  close(): void {
    for (const file of this.#open) file.close();
    if (!this.#unlock) return;
    this.#unlock();
    rmSync(this.#lockPath, { force: true });
  }

  get #lockPath(): string {
    return this.#path + this.#suffix + LOCK_SUFFIX;
  }

  #lock(file: JournalFile): void {
    this.#open.add(file);
    if (this.#unlock) return;
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    // Locks before creating the journal, because a journal without a lock may be taken over.
    this.#unlock = lockFile(this.#lockPath) ?? undefined;
  }
}

class JournalFile implements JournalTarget {
  readonly #path: string;
  readonly #opens: () => void;
  /** Existing files of the journal. */
  readonly #all: Set<JournalFile>;
  #descriptor: number | undefined;
  /** Offset of the next entry. Bytes after it belong to entries that are already in the database. */
  #end = 0;

  constructor(path: string, opens: () => void, all: Set<JournalFile>) {
    this.#path = path;
    this.#opens = opens;
    this.#all = all;
  }

  /**
   * Writes an entry with its end mark. It survives a crash of the process when this returns. After an error, nothing of it
   * is in the file.
   * @throws Error of the system, e.g. for a full disk
   */
  append(bytes: Uint8Array, start: number, end: number): void {
    const descriptor = (this.#descriptor ??= this.#make());
    try {
      writeAt(descriptor, bytes, start, end, this.#end);
    } catch (error) {
      this.#mark(descriptor);
      throw error;
    }
    this.#end += end - start - END_BYTES;
  }

  /**
   * Removes all entries. The file keeps its size and is overwritten, because growing a file is several times slower.
   */
  clear(): void {
    this.#end = 0;
    if (this.#descriptor !== undefined) this.#mark(this.#descriptor);
  }

  seal(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  read(): Buffer {
    return readFileSync(this.#path);
  }

  remove(): void {
    if (!this.#all.delete(this)) return;
    this.seal();
    rmSync(this.#path, { force: true });
  }

  reserve(bytes: number): void {
    const descriptor = (this.#descriptor ??= this.#make());
    // Zeros are an end mark.
    writeAt(descriptor, new Uint8Array(bytes), 0, bytes, this.#end);
  }

  close(): void {
    if (this.#end === 0) this.remove();
    else this.seal();
  }

  #make(): number {
    this.#opens();
    return openSync(this.#path, 'wx', 0o600);
  }

  /** Writes an end mark here. If that fails as well, readers ignore the incomplete entry. */
  #mark(descriptor: number): void {
    try {
      writeAt(descriptor, END, 0, END_BYTES, this.#end);
    } catch {
      // The next entry overwrites it.
    }
  }
}

/** Writes all bytes, in several calls if needed: a nearly full disk may accept only a part. */
function writeAt(descriptor: number, bytes: Uint8Array, start: number, end: number, position: number): void {
  for (let at = start; at < end;) at += writeSync(descriptor, bytes, at, end - at, position + at - start);
}

/**
 * Runs `work` on the journal of a crashed process under its lock, then deletes the lock.
 * @returns false if the process is alive, or another one has the lock
 */
export async function onLeftBehind(path: string, work: () => Promise<void>): Promise<boolean> {
  const unlock = lockFile(path + LOCK_SUFFIX);
  if (!unlock) return false;
  try {
    await work();
  } finally {
    unlock();
    rmSync(path + LOCK_SUFFIX, { force: true });
  }
  return true;
}
