// Moves what the journal holds into the database: many entries with one transaction, a little later than they came and a
// few at a time, so that no request waits for it. Whoever reads has it done first, and so reads what was written.
import { GatewayError } from '../../canonical/index.ts';
import type { GroupCommit } from '../sqlite/group-commit.ts';
import type { Entry } from './entries.ts';
import type { Journal } from './journal.ts';
import type { Apply, JournalFolder } from './journal-folder.ts';

/** Runs a task some time from now; the process may end before. */
export type Later = (task: () => void) => void;

/** Puts entries of one kind into tables, inside a transaction. It may run again: what is there changes nothing. */
export interface EntryWriter<T> {
  /** What the content of an entry says. @throws RangeError for one that cannot be read */
  readonly read: (content: Uint8Array) => T;
  readonly write: (rows: readonly T[]) => void;
}

/** Entries of one transaction, or as many as a chunk of the journal has: one or two milliseconds. */
const SLICE = 256;

/** What waits beyond this is brought in at once: what lives for long costs more memory than larger transactions save. */
const SOON_BYTES = 200_000;

/** Puts entries of one kind, which were read before, into their tables. */
type Batch = () => void;

export interface IndexerOptions {
  readonly journal: Journal;
  /** null where no other process can reach the database. */
  readonly folder: JournalFolder | null;
  readonly commits: GroupCommit;
  /** Called before each transaction, outside of it. */
  readonly prepare: () => void;
  readonly later: Later;
  /** Told, in a sentence, of entries that cannot be read. */
  readonly notice: (sentence: string) => void;
}

export class Indexer {
  readonly #options: IndexerOptions;
  readonly #kinds = new Map<number, (contents: readonly Uint8Array[]) => Batch>();
  /** The slice that is on its way. */
  #running: Promise<void> | undefined;
  #isPlanned = false;
  #isEnding = false;
  #isStuck = false;

  constructor(options: IndexerOptions) {
    this.#options = options;
  }

  /** Bytes that are not in the database yet. */
  get waitingBytes(): number {
    return this.#options.journal.waiting;
  }

  /** True while the database takes nothing. */
  get isStuck(): boolean {
    return this.#isStuck;
  }

  /** Says who puts the entries of a kind into the database. A kind is stored: it keeps its number for ever. */
  register<T>(kind: number, { read, write }: EntryWriter<T>): void {
    this.#kinds.set(kind, (contents) => {
      const rows = this.#read(contents, read);
      return () => write(rows);
    });
  }

  /** Writes an entry, durably, and sees to it that it reaches the database. @throws GatewayError `internal` */
  append(kind: number, content: Uint8Array): void {
    const { journal } = this.#options;
    journal.append(kind, content);
    if (journal.waiting > SOON_BYTES && !this.#running) this.caughtUp().catch(() => this.#plan());
    else this.#plan();
  }

  /** Resolves when everything that was appended before is in the database. */
  async caughtUp(): Promise<void> {
    const { journal } = this.#options;
    const end = journal.appended;
    while (journal.dropped < end) await (this.#running ??= this.#slice());
  }

  /**
   * Brings in what other processes have appended, for a read that has found nothing.
   * @returns false when there are none: the read would find nothing again
   */
  async caughtUpWithOthers(): Promise<boolean> {
    return (await this.#options.folder?.applyOthers(this.#apply)) ?? false;
  }

  /** Brings in what killed processes left behind. */
  async recover(): Promise<void> {
    const { folder, notice } = this.#options;
    await folder?.recover(this.#apply, notice);
    await this.caughtUpWithOthers();
  }

  /** `caughtUp` without waiting for the event loop: for the end. */
  async finish(): Promise<void> {
    this.#isEnding = true;
    await this.#options.commits.flush();
    await this.caughtUp();
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    this.#options.later(() => {
      this.#isPlanned = false;
      // A database that takes nothing now is asked again: the entries are still there.
      this.caughtUp().catch(() => this.#plan());
    });
  }

  async #slice(): Promise<void> {
    const { journal, commits, prepare } = this.#options;
    let entries: readonly Entry[] = [];
    try {
      if (!this.#isEnding) prepare();
      const done = commits.add(() => {
        // Chosen now, so that what came since then is taken as well: a journal without entries begins anew.
        entries = journal.oldest(SLICE);
        writeAll(this.#batches(entries));
      });
      if (this.#isEnding) await commits.flush();
      await done;
      this.#isStuck = false;
    } catch (error) {
      this.#isStuck = true;
      throw error;
    } finally {
      this.#running = undefined;
    }
    journal.drop(entries);
  }

  /** For entries of others. */
  readonly #apply: Apply = async (entries) => {
    const batches = this.#batches(entries);
    const done = this.#options.commits.add(() => writeAll(batches));
    await this.#options.commits.flush();
    await done;
  };

  #batches(entries: readonly Entry[]): readonly Batch[] {
    return [...new Set(entries.map(({ kind }) => kind))].map((kind) => {
      const read = this.#kinds.get(kind);
      if (!read) throw new GatewayError('internal', `a journal holds an entry of the unknown kind ${kind}`);
      return read(entries.filter((entry) => entry.kind === kind).map(({ content }) => content));
    });
  }

  /** What cannot be read now will not be readable later: the entries behind it must not wait for it. */
  #read<T>(contents: readonly Uint8Array[], read: (content: Uint8Array) => T): readonly T[] {
    const rows: T[] = [];
    for (const content of contents) {
      try {
        rows.push(read(content));
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        this.#options.notice(`an entry of a journal cannot be read and is left out: ${error.message}`);
      }
    }
    return rows;
  }
}

function writeAll(batches: readonly Batch[]): void {
  for (const write of batches) write();
}
