// The files of one process's journal, one for each piece: each takes whole entries, is begun anew when all of them are in the
// database and nothing follows, and is gone when something does, or after a normal stop. Made with the first entry: a
// command that writes nothing leaves nothing behind.
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { lockFile } from '../../base/runtime/sqlite.ts';
import { END_BYTES } from './entries.ts';
import type { JournalTarget } from './journal.ts';

/** Suffix of the lock file beside a journal. Its process holds the lock as long as it lives. */
export const LOCK_SUFFIX = '.lock';

const END = new Uint8Array(END_BYTES);

export class JournalFiles {
  readonly #path: string;
  readonly #suffix: string;
  readonly #open = new Set<JournalFile>();
  #unlock: (() => void) | undefined;
  #made = 0;

  /**
   * @param path of the first file, without its suffix; the others have a number besides
   * @param suffix of every file
   */
  constructor(path: string, suffix: string) {
    this.#path = path;
    this.#suffix = suffix;
  }

  /** The file of the next piece. Its name comes behind all of before. */
  next(): JournalTarget {
    const number = this.#made === 0 ? '' : `.${String(this.#made).padStart(6, '0')}`;
    this.#made += 1;
    const file = new JournalFile(this.#path + number + this.#suffix, () => this.#lock(file), this.#open);
    return file;
  }

  /** Gives the files up; deletes those in which nothing is. */
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
    // The lock comes before the journal: whoever finds a journal without a lock may take it.
    this.#unlock = lockFile(this.#lockPath) ?? undefined;
  }
}

class JournalFile implements JournalTarget {
  readonly #path: string;
  readonly #opens: () => void;
  /** The files of the journal that exist. */
  readonly #all: Set<JournalFile>;
  #descriptor: number | undefined;
  /** Place of the next entry. The bytes behind it are of entries that are in the database. */
  #end = 0;

  constructor(path: string, opens: () => void, all: Set<JournalFile>) {
    this.#path = path;
    this.#opens = opens;
    this.#all = all;
  }

  /**
   * Writes some of the bytes: an entry with the end mark behind it. Returns when it survives the death of the process. It is there whole or,
   * after an error, not at all.
   * @throws Error as the system has it, e.g. for a full disk
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
   * Forgets every entry. The file keeps its size, for the next ones are written over these: a file that grows costs
   * several times as much.
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
    // Zeros are an end mark, and no entry.
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

  /** Ends the file here. Where even this fails, half an entry stands here, which every reader ignores. */
  #mark(descriptor: number): void {
    try {
      writeAt(descriptor, END, 0, END_BYTES, this.#end);
    } catch {
      // The next entry is written over it.
    }
  }
}

/** A full disk may take a part. */
function writeAt(descriptor: number, bytes: Uint8Array, start: number, end: number, position: number): void {
  for (let at = start; at < end;) at += writeSync(descriptor, bytes, at, end - at, position + at - start);
}

/**
 * Runs `work` on the journal of a process that has died, while nobody else can have it; then its lock is deleted.
 * @returns false while the process lives, or another one does the same
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
