// The journals of a data directory: that of each process that writes, in one file or several, and those that killed
// processes left behind.
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Entry, type ReadEntries, readEntries } from './entries.ts';
import { JournalFiles, onLeftBehind } from './journal-file.ts';

const SUFFIX = '.journal';
/** Of a file with half an entry, of which nobody was told, or a damaged one: for somebody who can read it. */
const DAMAGED = '.damaged';

/** Puts entries into the database; what it has already changes nothing. Durable when it resolves. */
export type Apply = (entries: readonly Entry[]) => Promise<void>;

/** Entries that are applied in one go. */
const STEP = 500;

export class JournalFolder {
  readonly #folder: string;
  readonly #own = randomBytes(8).toString('hex');
  /** Size and time of the others' files when they were read last. */
  readonly #seen = new Map<string, string>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The journal of this process. */
  own(): JournalFiles {
    return new JournalFiles(join(this.#folder, this.#own), SUFFIX);
  }

  /**
   * Applies what killed processes left behind, and deletes it.
   * @param notice told, in a sentence, of bytes that cannot be read
   */
  async recover(apply: Apply, notice: (sentence: string) => void): Promise<void> {
    const paths = this.#others();
    for (const owner of new Set(paths.map(ownerOf)))
      await onLeftBehind(owner + SUFFIX, async () => {
        for (const path of paths) if (ownerOf(path) === owner) await takeOver(path, apply, notice);
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
      if (state === this.#seen.get(path)) continue;
      await applyFile(path, apply);
      this.#seen.set(path, state);
    }
    for (const path of this.#seen.keys()) if (!others.includes(path)) this.#seen.delete(path);
    return others.length > 0;
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

/** Where the first file of the same process is, without its suffix. */
function ownerOf(path: string): string {
  return nameOf(path).replace(/\.\d+$/, '');
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Applies a file that nobody writes any more, and deletes it. */
async function takeOver(path: string, apply: Apply, notice: (sentence: string) => void): Promise<void> {
  const { isWhole } = await applyFile(path, apply);
  if (isWhole) return rmSync(path, { force: true });
  renameSync(path, path + DAMAGED);
  notice(`${path} does not end with a whole entry: what follows is ignored, and kept as ${path}${DAMAGED}`);
}

async function applyFile(path: string, apply: Apply): Promise<ReadEntries> {
  const read = readEntries(bytesOf(path));
  for (let from = 0; from < read.entries.length; from += STEP)
    await apply(read.entries.slice(from, from + STEP));
  return read;
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
