// Moves journal entries into the database: many per transaction, with a short delay and in small steps, so that no request
// waits for it. Readers trigger it first, so that they see their own writes.
import { TEXTS } from '../../canonical/index.ts';
import type { Entry } from './entries.ts';
import type { Journal } from './journal.ts';
import type { Apply, JournalFolder } from './journal-folder.ts';
import { othersRun } from '../others-run.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Runs a task later, unless the process ends before. */
export type Later = (task: () => void, delayMs: DurationMs) => void;

/** Time after which entries are written to the database, so that transactions have several. */
const INDEX_AFTER_MS = 2_000;
/** Pause between two background transactions, in which requests run. */
const PAUSE_MS = 20;

/** The timer does not keep the process alive: the next process indexes what is left. */
export const soon: Later = (task, delayMs) => void setTimeout(task, delayMs).unref();

/** Database into which entries are written. */
export interface EntryTarget {
  /** Maximum entries per transaction. */
  readonly most: number;
  /** Maximum entries per background transaction. Smaller, because requests wait for it. */
  readonly mostAtLeisure: number;
  /**
   * Writes entries in one transaction. Idempotent. They are durable when it resolves.
   * @param choose returns the entries; called as late as possible, to include recent ones
   * @param isAtOnce true: does not wait for further entries
   */
  bringIn(choose: () => readonly Entry[], isAtOnce: boolean): Promise<void>;
}

/** Waiting bytes at which entries are written immediately, in transactions of maximum size, to save memory. */
const SOON_BYTES = 400_000;

export interface IndexerOptions {
  readonly journal: Journal;
  /** Folder with the journals; null: no other process can reach the database. */
  readonly folder: JournalFolder | null;
  readonly target: EntryTarget;
  readonly later: Later;
  /** Milliseconds that an answer waits for the database; null: it does not wait. */
  readonly confirmMs?: DurationMs | null | undefined;
  /** Receives a sentence about invalid entries, and about the start and end of failures of database or disk. */
  readonly notice: (sentence: string) => void;
}

export class Indexer {
  readonly #options: IndexerOptions;
  /** Running transaction. */
  #running: Promise<void> | undefined;
  /** Promise shared by answers of the same turn of the event loop. */
  #confirming: Promise<void> | undefined;
  #isPlanned = false;
  #isEnding = false;
  #isStuck = false;
  #wasFull = false;

  constructor(options: IndexerOptions) {
    this.#options = options;
  }

  /** Bytes that are only in the journal. */
  get waitingBytes(): number {
    return this.#options.journal.waiting;
  }

  /** True while the database cannot be written. */
  get isStuck(): boolean {
    return this.#isStuck;
  }

  /** True while the next entry may be refused. Checks whether a full disk has free space again. */
  isFull(): boolean {
    const { journal, notice } = this.#options;
    journal.look();
    const { isFull } = journal;
    if (isFull !== this.#wasFull) notice(isFull ? TEXTS.journalFull : 'the journal has free space again');
    this.#wasFull = isFull;
    return isFull;
  }

  /**
   * Resolves when all entries appended before are in the database, or after a timeout. Never rejects.
   * @returns undefined: no need to wait
   */
  confirmed(): Promise<void> | undefined {
    const { journal, confirmMs } = this.#options;
    if (typeof confirmMs !== 'number' || this.#isStuck || journal.waiting === 0) return undefined;
    return (this.#confirming ??= this.#confirm(confirmMs));
  }

  /** Appends an entry durably, and schedules its write to the database. @throws GatewayError `internal` */
  append(kind: number, content: Uint8Array): void {
    const { journal } = this.#options;
    journal.append(kind, content);
    if (journal.waiting > SOON_BYTES && !this.#running && !this.#isStuck)
      this.caughtUp().catch(() => this.#plan());
    else this.#plan();
  }

  /** Resolves when all entries appended before are in the database. */
  async caughtUp(): Promise<void> {
    const { journal, target } = this.#options;
    const end = journal.appended;
    while (journal.dropped < end) await (this.#running ??= this.#slice(target.most));
  }

  /**
   * Indexes entries of other processes, for a read that found nothing.
   * @returns false if there are no other processes, so that repeating the read is useless
   */
  async caughtUpWithOthers(): Promise<boolean> {
    return (await this.#options.folder?.applyOthers(this.#apply)) ?? false;
  }

  /** Resolves when all entries appended before are in the database, including those of other processes. */
  async caughtUpWithAll(): Promise<void> {
    await this.caughtUp();
    await this.caughtUpWithOthers();
  }

  /** Indexes the journals of crashed processes. @param nowMs Unix milliseconds */
  async recover(nowMs: UnixMs): Promise<void> {
    const { folder, notice } = this.#options;
    await folder?.recover(this.#apply, notice, nowMs);
    await this.caughtUpWithOthers();
  }

  /** `caughtUp` without yielding, for the end of the process. */
  finish(): Promise<void> {
    this.#isEnding = true;
    return this.caughtUp();
  }

  async #confirm(mostMs: DurationMs): Promise<void> {
    // Includes further entries of this turn.
    await othersRun();
    this.#confirming = undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        // After a timeout, further answers do not wait until a write succeeds.
        this.#report(true);
        resolve();
      }, mostMs);
    });
    await Promise.race([this.caughtUp().catch(() => this.#plan()), late]);
    clearTimeout(timer);
  }

  /** Reports once that the database cannot be written, and once that it can be again. */
  #report(isStuck: boolean): void {
    if (isStuck === this.#isStuck) return;
    this.#isStuck = isStuck;
    this.#options.notice(isStuck ? TEXTS.recordsWait : 'records are written to the database again');
  }

  /** @param earlier bytes that waited before the previous transaction, if this one follows it */
  #plan(delayMs: DurationMs = INDEX_AFTER_MS, earlier = Infinity): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    this.#options.later(() => void this.#atLeisure(earlier), delayMs);
  }

  /** Writes some entries, and plans the next. Several transactions in a row would delay a request several times. */
  async #atLeisure(earlier: number): Promise<void> {
    this.#isPlanned = false;
    const { journal, target } = this.#options;
    const { waiting } = journal;
    try {
      if (waiting > 0) await (this.#running ??= this.#slice(target.mostAtLeisure));
      if (journal.waiting === 0) return;
      if (waiting < earlier) this.#plan(PAUSE_MS, waiting);
      // Small transactions are too slow for this load. The large ones at `SOON_BYTES` cost less per entry.
      else this.#plan();
    } catch {
      // The entries are still in the journal.
      this.#plan();
    }
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

  /** Writes entries of other processes. */
  readonly #apply: Apply = (entries) => this.#options.target.bringIn(() => entries, true);
}
