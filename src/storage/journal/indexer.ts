// Moves what the journal holds into the database: many entries with one transaction, a little later than they came and a
// few at a time, so that no request waits for it. Whoever reads has it done first, and so reads what was written.
import { TEXTS } from '../../canonical/index.ts';
import type { Entry } from './entries.ts';
import type { Journal } from './journal.ts';
import type { Apply, JournalFolder } from './journal-folder.ts';
import { othersRun } from '../others-run.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Runs a task some time from now; the process may end before. */
export type Later = (task: () => void) => void;

/** Time that a record may be in the journal alone, unless the database takes nothing. */
const INDEX_AFTER_MS = 2_000;

/** The timer does not keep the process alive: what is not done then is done by the next one. */
export const soon: Later = (task) => void setTimeout(task, INDEX_AFTER_MS).unref();

/** The database that entries are brought into. */
export interface EntryTarget {
  /** The most entries of one transaction. */
  readonly most: number;
  /** The same while nobody waits for them: requests that come meanwhile must. */
  readonly mostAtLeisure: number;
  /**
   * Brings entries in with one transaction: all of them, or none. What is there already changes nothing. Durable when it
   * resolves.
   * @param choose gives the entries; called as late as possible, so that what came meanwhile is taken as well
   * @param isAtOnce true: without waiting for company
   */
  bringIn(choose: () => readonly Entry[], isAtOnce: boolean): Promise<void>;
}

/** More waiting bytes than this are brought in at once, as many entries as may be: long-lived entries cost more memory than larger transactions save. */
const SOON_BYTES = 400_000;

export interface IndexerOptions {
  readonly journal: Journal;
  /** null where no other process can reach the database. */
  readonly folder: JournalFolder | null;
  readonly target: EntryTarget;
  readonly later: Later;
  /** Milliseconds that an answer may wait for the database; null: it does not. */
  readonly confirmMs?: DurationMs | null | undefined;
  /** Receives a sentence about entries that cannot be read, and when the database or the disk takes none, or some again. */
  readonly notice: (sentence: string) => void;
}

export class Indexer {
  readonly #options: IndexerOptions;
  /** The slice that is on its way. */
  #running: Promise<void> | undefined;
  /** Promise of the answers that came in the same turn of the event loop. */
  #confirming: Promise<void> | undefined;
  #isPlanned = false;
  #isEnding = false;
  #isStuck = false;
  #wasFull = false;

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

  /** True while the next entry may find no room. Looks whether a disk that was full has some again. */
  isFull(): boolean {
    const { journal, notice } = this.#options;
    journal.look();
    const { isFull } = journal;
    if (isFull !== this.#wasFull)
      notice(isFull ? 'the journal is full, or the disk takes nothing' : 'the journal has room again');
    this.#wasFull = isFull;
    return isFull;
  }

  /**
   * Resolves when all that was appended before is in the database, or when that takes too long; never rejects.
   * @returns undefined where nothing is to be waited for
   */
  confirmed(): Promise<void> | undefined {
    const { journal, confirmMs } = this.#options;
    if (typeof confirmMs !== 'number' || this.#isStuck || journal.waiting === 0) return undefined;
    return (this.#confirming ??= this.#confirm(confirmMs));
  }

  /** Writes an entry, durably, and sees to it that it reaches the database. @throws GatewayError `internal` */
  append(kind: number, content: Uint8Array): void {
    const { journal } = this.#options;
    journal.append(kind, content);
    if (journal.waiting > SOON_BYTES && !this.#running && !this.#isStuck)
      this.caughtUp().catch(() => this.#plan());
    else this.#plan();
  }

  /**
   * Resolves when everything that was appended before is in the database.
   * @param most entries of one transaction
   */
  async caughtUp(most = this.#options.target.most): Promise<void> {
    const { journal } = this.#options;
    const end = journal.appended;
    while (journal.dropped < end) await (this.#running ??= this.#slice(most));
  }

  /**
   * Brings in what other processes have appended, for a read that has found nothing.
   * @returns false when there are none: the read would find nothing again
   */
  async caughtUpWithOthers(): Promise<boolean> {
    return (await this.#options.folder?.applyOthers(this.#apply)) ?? false;
  }

  /** Brings in what killed processes left behind. @param nowMs Unix milliseconds */
  async recover(nowMs: UnixMs): Promise<void> {
    const { folder, notice } = this.#options;
    await folder?.recover(this.#apply, notice, nowMs);
    await this.caughtUpWithOthers();
  }

  /** `caughtUp` without waiting for the event loop: for the end. */
  finish(): Promise<void> {
    this.#isEnding = true;
    return this.caughtUp();
  }

  async #confirm(mostMs: DurationMs): Promise<void> {
    // Others of this turn come along.
    await othersRun();
    this.#confirming = undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        // Slow is as good as gone: the next ones do not wait until it has taken something.
        this.#report(true);
        resolve();
      }, mostMs);
    });
    await Promise.race([this.caughtUp().catch(() => this.#plan()), late]);
    clearTimeout(timer);
  }

  /** Says once that the database takes nothing, and once that it does again. */
  #report(isStuck: boolean): void {
    if (isStuck === this.#isStuck) return;
    this.#isStuck = isStuck;
    this.#options.notice(isStuck ? TEXTS.recordsWait : 'the database takes records again');
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    this.#options.later(() => {
      this.#isPlanned = false;
      // A database that takes nothing now is asked again: the entries are still there.
      this.caughtUp(this.#options.target.mostAtLeisure).catch(() => this.#plan());
    });
  }

  async #slice(most: number): Promise<void> {
    const { journal, target } = this.#options;
    let entries: readonly Entry[] = [];
    try {
      await target.bringIn(
        () => (entries = journal.oldest(journal.waiting > SOON_BYTES ? target.most : most)),
        this.#isEnding,
      );
      this.#report(false);
    } catch (error) {
      this.#report(true);
      throw error;
    } finally {
      this.#running = undefined;
    }
    journal.drop(entries);
  }

  /** Applies entries of other processes. */
  readonly #apply: Apply = (entries) => this.#options.target.bringIn(() => entries, true);
}
