// Moves what the journal holds into the database: many entries with one transaction, a little later than they came and a
// few at a time, so that no request waits for it. Whoever reads has it done first, and so reads what was written.
import { GatewayError } from '../../canonical/index.ts';
import type { GroupCommit } from '../group-commit.ts';
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

/** Entries of one transaction: about a millisecond. */
const SLICE = 256;

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
  readonly #writers = new Map<number, (contents: readonly Uint8Array[]) => void>();
  #running: Promise<void> | undefined;
  #isPlanned = false;
  #isEnding = false;

  constructor(options: IndexerOptions) {
    this.#options = options;
  }

  /** Says who puts the entries of a kind into the database. A kind is stored: it keeps its number for ever. */
  register<T>(kind: number, { read, write }: EntryWriter<T>): void {
    this.#writers.set(kind, (contents) => write(this.#read(contents, read)));
  }

  /** Writes an entry, durably, and sees to it that it reaches the database. @throws GatewayError `internal` */
  append(kind: number, content: Uint8Array): void {
    this.#options.journal.append(kind, content);
    this.#plan();
  }

  /** Resolves when everything that was appended before is in the database. */
  async caughtUp(): Promise<void> {
    while (this.#options.journal.waiting > 0) await (this.#running ??= this.#run());
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

  async #run(): Promise<void> {
    const { journal, prepare } = this.#options;
    try {
      while (journal.waiting > 0) {
        if (!this.#isEnding) prepare();
        const entries = journal.oldest(SLICE);
        await (this.#isEnding ? this.#apply(entries) : this.#commit(entries));
        journal.drop(entries);
      }
    } finally {
      this.#running = undefined;
    }
  }

  readonly #apply: Apply = async (entries) => {
    const written = this.#commit(entries);
    await this.#options.commits.flush();
    await written;
  };

  #commit(entries: readonly Entry[]): Promise<void> {
    return this.#options.commits.add(() => {
      for (const kind of new Set(entries.map((entry) => entry.kind))) {
        const write = this.#writers.get(kind);
        if (!write)
          throw new GatewayError('internal', `a journal holds an entry of the unknown kind ${kind}`);
        write(entries.filter((entry) => entry.kind === kind).map(({ content }) => content));
      }
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
