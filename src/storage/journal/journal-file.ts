// The file of one process's journal: takes whole entries, is begun anew when all of them are in the database, and is gone
// after a normal stop. Made with the first entry: a command that writes nothing leaves nothing behind.
import { closeSync, ftruncateSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { lockFile } from '../../runtime/sqlite.ts';
import { END_BYTES } from './entries.ts';

/** What is added to the name of a journal for the lock that its process holds as long as it lives. */
export const LOCK_SUFFIX = '.lock';

/** A file that has grown beyond this, while the database took nothing, becomes small again. */
const KEPT_BYTES = 4_000_000;

const END = new Uint8Array(END_BYTES);

export class JournalFile {
  readonly #path: string;
  #descriptor: number | undefined;
  #unlock: (() => void) | undefined;
  /** Where the next entry begins. What follows is of entries that are in the database. */
  #end = 0;
  #size = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Writes some of the bytes: an entry with the end mark behind it. Returns when it survives the death of the process. It is there whole or,
   * after an error, not at all.
   * @throws Error as the system has it, e.g. for a full disk
   */
  append(bytes: Uint8Array, start: number, end: number): void {
    const descriptor = (this.#descriptor ??= this.#open());
    try {
      writeAt(descriptor, bytes, start, end, this.#end);
    } catch (error) {
      this.#mark(descriptor);
      throw error;
    }
    this.#size = Math.max(this.#size, this.#end + end - start);
    this.#end += end - start - END_BYTES;
  }

  /**
   * Forgets every entry. The file keeps its size, for the next ones are written over these: a file that grows costs
   * several times as much.
   */
  clear(): void {
    this.#end = 0;
    if (this.#descriptor === undefined) return;
    this.#mark(this.#descriptor);
    if (this.#size <= KEPT_BYTES) return;
    ftruncateSync(this.#descriptor, END_BYTES);
    this.#size = END_BYTES;
  }

  /** Gives the file up; deletes it when nothing is in it. */
  close(): void {
    if (this.#descriptor === undefined) return;
    closeSync(this.#descriptor);
    this.#descriptor = undefined;
    if (this.#end === 0) rmSync(this.#path, { force: true });
    this.#unlock?.();
    rmSync(this.#path + LOCK_SUFFIX, { force: true });
  }

  #open(): number {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    // Before the journal: whoever finds a journal without a lock may take it.
    this.#unlock ??= lockFile(this.#path + LOCK_SUFFIX) ?? undefined;
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
 * Has `work` done on the journal of a process that has died, while nobody else can have it; then its lock is deleted.
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
