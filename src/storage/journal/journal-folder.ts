// The journals of a data directory: that of each process that writes, in one file or several, and those that killed
// processes left behind.
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { type Entry, type ReadEntries, readEntries } from './entries.ts';
import { JournalFiles, onLeftBehind } from './journal-file.ts';
import { entriesFor, type Origin } from './origin.ts';
import type { UnixMs } from '../../base/units.ts';

const SUFFIX = '.journal';
/** Suffix of a file that is damaged, or ends within an entry that nobody was told of: for somebody who can read it. */
const DAMAGED = '.damaged';
/** Suffix of a file whose entries are for another database, or for this one before a backup was put back. */
const FOREIGN = '.foreign';
/** Milliseconds that both are kept after the last entry was written. */
const KEPT_MS = 30 * 86_400_000;

/** Puts entries into the database; what it has already changes nothing. Durable when it resolves. */
export type Apply = (entries: readonly Entry[]) => Promise<void>;

/** Entries that are applied in one go. */
const STEP = 500;

/** A file when it was read last. */
interface Seen {
  /** Size and time. */
  readonly state: string;
  /** Up to where its entries were applied, and the checksum of what is before. */
  readonly end: number;
  readonly sum: number;
}

export class JournalFolder {
  readonly #folder: string;
  readonly #origin: Origin | null;
  readonly #own = randomBytes(8).toString('hex');
  /** State of the others' files when they were read. */
  readonly #seen = new Map<string, Seen>();

  /** @param origin what tells entries for other databases; null: there are none */
  constructor(folder: string, origin: Origin | null = null) {
    this.#folder = folder;
    this.#origin = origin;
  }

  /** The journal of this process. */
  own(): JournalFiles {
    return new JournalFiles(join(this.#folder, this.#own), SUFFIX);
  }

  /**
   * Applies what killed processes left behind, and deletes it; and what was set aside long ago.
   * @param notice told, in a sentence, of bytes that cannot be read or are for another database
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
   * Applies what other processes have written since the last time. Costs little when there are none.
   * @returns whether there are any
   */
  async applyOthers(apply: Apply): Promise<boolean> {
    const others = this.#others();
    for (const path of others) {
      const state = stateOf(path);
      const seen = this.#seen.get(path);
      if (state === seen?.state) continue;
      const bytes = bytesOf(path);
      // A file grows until all of it is in the database, and then begins anew.
      const isLonger = seen !== undefined && crc32(bytes.subarray(0, seen.end)) === seen.sum;
      const { end, isForeign } = await this.#apply(bytes, isLonger ? seen.end : 0, apply);
      const known = isForeign ? 0 : end;
      this.#seen.set(path, { state, end: known, sum: crc32(bytes.subarray(0, known)) });
    }
    for (const path of this.#seen.keys()) if (!others.includes(path)) this.#seen.delete(path);
    return others.length > 0;
  }

  /** Applies a file that nobody writes any more, and deletes it. */
  async #takeOver(path: string, apply: Apply, notice: (sentence: string) => void): Promise<void> {
    const { isWhole, isForeign } = await this.#apply(bytesOf(path), 0, apply);
    if (isWhole && !isForeign) return rmSync(path, { force: true });
    const renamed = path + (isForeign ? FOREIGN : DAMAGED);
    renameSync(path, renamed);
    notice(
      isForeign
        ? `${path} is of another database, or of this one before a backup was put back: what it holds is not taken over, and kept as ${renamed}`
        : `${path} does not end with a whole entry: what follows is ignored, and kept as ${renamed}`,
    );
  }

  async #apply(
    bytes: Buffer,
    start: number,
    apply: Apply,
  ): Promise<Omit<ReadEntries, 'entries'> & { readonly isForeign: boolean }> {
    const { entries: found, end, isWhole } = readEntries(bytes, start);
    const entries = entriesFor(this.#origin, found);
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

  /** In the order in which they were begun, for each process. */
  #others(): readonly string[] {
    return namesIn(this.#folder)
      .filter((name) => name.endsWith(SUFFIX) && !name.startsWith(`${this.#own}.`))
      .map((name) => join(this.#folder, name))
      .toSorted((a, b) => compare(nameOf(a), nameOf(b)));
  }
}

/** A path without its suffix: what comes behind it is longer, and greater. */
function nameOf(path: string): string {
  return path.slice(0, -SUFFIX.length);
}

/** Path of the first file of the same process, without its suffix. */
function ownerOf(path: string): string {
  return nameOf(path).replace(/\.\d+$/, '');
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Empty for a folder that is not there. */
function namesIn(folder: string): readonly string[] {
  return unlessMissing(() => readdirSync(folder), []);
}

/** Empty for a file that its process has deleted meanwhile. */
function bytesOf(path: string): Buffer {
  return unlessMissing(() => readFileSync(path), Buffer.alloc(0));
}

/** Changes when the file does. */
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
    if ((error as { code?: unknown }).code === 'ENOENT') return missing;
    throw error;
  }
}
