// Journals of a data directory: those of running processes, and those left by crashed ones.
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { entriesOf, type Entry, type ReadEntries, readEntries } from './entries.ts';
import { JournalFiles, onLeftBehind } from './journal-file.ts';
import type { UnixMs } from '../../base/units.ts';
import { errorCode } from '../../base/lib/errors.ts';

const SUFFIX = '.journal';
/** Suffix of a file that is damaged or ends with an incomplete entry. Kept for inspection. */
const DAMAGED = '.damaged';
/** Suffix of a file with entries of another database. A restored backup has the identity of its original. */
const FOREIGN = '.foreign';
/** Milliseconds for which both are kept after their last write. */
const KEPT_MS = 30 * 86_400_000;

/** Writes entries to the database. Idempotent. They are durable when it resolves. */
export type Apply = (entries: readonly Entry[]) => Promise<void>;

/** Entries per step. */
const STEP = 500;

/** State of a file at its last read. */
interface Seen {
  /** Size and modification time. */
  readonly state: string;
  /** Offset up to which its entries were applied, and the checksum of these bytes. */
  readonly end: number;
  readonly sum: number;
}

export class JournalFolder {
  readonly #folder: string;
  readonly #origin: Uint8Array | null;
  readonly #own = randomBytes(8).toString('hex');
  /** Files of other processes at their last read. */
  readonly #seen = new Map<string, Seen>();

  /** @param origin identity of the database; null: its folder has no journals of others */
  constructor(folder: string, origin: Uint8Array | null = null) {
    this.#folder = folder;
    this.#origin = origin;
  }

  /** Journal of this process. */
  own(): JournalFiles {
    return new JournalFiles(join(this.#folder, this.#own), SUFFIX);
  }

  /**
   * Applies and deletes the journals of crashed processes. Deletes old files that could not be applied.
   * @param notice receives a sentence about invalid bytes and entries of other databases
   */
  async recover(apply: Apply, notice: (sentence: string) => void, nowMs: UnixMs): Promise<void> {
    this.#forgetOld(nowMs);
    const paths = this.#others();
    for (const owner of new Set(paths.map(ownerOf)))
      await onLeftBehind(owner + SUFFIX, async () => {
        for (const path of paths) if (ownerOf(path) === owner) await this.#takeOver(path, apply, notice);
      });
  }

  /**
   * Applies new entries of other processes. Cheap if there are none.
   * @returns true if there are other processes
   */
  async applyOthers(apply: Apply): Promise<boolean> {
    const others = this.#others();
    for (const path of others) {
      const state = stateOf(path);
      const seen = this.#seen.get(path);
      if (state === seen?.state) continue;
      const bytes = bytesOf(path);
      // A file grows until all entries are in the database, and is then overwritten from the start.
      const isLonger = seen !== undefined && crc32(bytes.subarray(0, seen.end)) === seen.sum;
      const { end, isForeign } = await this.#apply(bytes, isLonger ? seen.end : 0, apply);
      const known = isForeign ? 0 : end;
      this.#seen.set(path, { state, end: known, sum: crc32(bytes.subarray(0, known)) });
    }
    for (const path of this.#seen.keys()) if (!others.includes(path)) this.#seen.delete(path);
    return others.length > 0;
  }

  /** Applies a file that has no writer, and deletes it. */
  async #takeOver(path: string, apply: Apply, notice: (sentence: string) => void): Promise<void> {
    const { isWhole, isForeign } = await this.#apply(bytesOf(path), 0, apply);
    if (isWhole && !isForeign) return rmSync(path, { force: true });
    const renamed = path + (isForeign ? FOREIGN : DAMAGED);
    renameSync(path, renamed);
    notice(
      isForeign
        ? `${path} contains records of another database; they are not imported, and it was renamed to ${renamed}`
        : `${path} ends with an incomplete entry, which is ignored; it was renamed to ${renamed}`,
    );
  }

  async #apply(
    bytes: Buffer,
    start: number,
    apply: Apply,
  ): Promise<Omit<ReadEntries, 'entries'> & { readonly isForeign: boolean }> {
    const { entries: found, end, isWhole } = readEntries(bytes, start);
    const entries = entriesOf(this.#origin, found);
    for (let from = 0; from < entries.length; from += STEP) await apply(entries.slice(from, from + STEP));
    return { end, isWhole, isForeign: entries.length < found.length };
  }

  #forgetOld(nowMs: UnixMs): void {
    for (const name of namesIn(this.#folder)) {
      if (!name.endsWith(DAMAGED) && !name.endsWith(FOREIGN)) continue;
      const path = join(this.#folder, name);
      const writtenMs = unlessMissing(() => statSync(path).mtimeMs, nowMs);
      if (nowMs - writtenMs > KEPT_MS) rmSync(path, { force: true });
    }
  }

  /** Files of other processes, per process in order of creation. */
  #others(): readonly string[] {
    return namesIn(this.#folder)
      .filter((name) => name.endsWith(SUFFIX) && !name.startsWith(`${this.#own}.`))
      .map((name) => join(this.#folder, name))
      .toSorted((a, b) => compare(nameOf(a), nameOf(b)));
  }
}

/** Path without suffix, for sorting. */
function nameOf(path: string): string {
  return path.slice(0, -SUFFIX.length);
}

/** Path of the first file of the same process, without suffix. */
function ownerOf(path: string): string {
  return nameOf(path).replace(/\.\d+$/, '');
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** File names in a folder; empty if it does not exist. */
function namesIn(folder: string): readonly string[] {
  return unlessMissing(() => readdirSync(folder), []);
}

/** Bytes of a file; empty if its process has deleted it. */
function bytesOf(path: string): Buffer {
  return unlessMissing(() => readFileSync(path), Buffer.alloc(0));
}

/** Size and modification time, to detect changes. */
function stateOf(path: string): string {
  return unlessMissing(() => {
    const { size, mtimeNs } = statSync(path, { bigint: true });
    return `${size} ${mtimeNs}`;
  }, 'gone');
}

function unlessMissing<T>(read: () => T, missing: T): T {
  try {
    return read();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return missing;
    throw error;
  }
}
