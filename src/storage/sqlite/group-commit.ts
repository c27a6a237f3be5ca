// Group commit: one transaction for writes that arrive together. All stores of a database share one instance, so that
// everything a request writes (its record, its stored response) is written atomically.
import { GatewayError } from '../../canonical/index.ts';
import type { SqlConnection, SqlStatement } from '../../base/runtime/sqlite.ts';

/** Runs a task after pending events; `setImmediate` outside tests. */
export type Schedule = (task: () => void) => void;

/**
 * Runs prepared statements inside the transaction of a batch. It may run twice, because a failed transaction is retried
 * once. If it throws, the whole batch fails, so validation must happen before.
 */
export type Write = () => void;

// A batch waits for a few turns of the event loop while each brings more writes: a commit costs about as much as three
// records. In an idle gateway the first turn brings none, and the batch is written immediately.
const MOST_TURNS = 8;
const FULL_BATCH = 64;

/**
 * Pages (4 kB) in the write-ahead log before a commit copies them to the database file. That blocks the event loop for
 * about 8 µs per page: SQLite's default of 1,000 pages blocks for 6 to 12 ms, and 250 pages for 3 ms but with a fifth
 * more CPU per record. 500 is a compromise (measured 2026-11). A timer would copy the same pages, but the log could grow
 * without bound under load.
 */
export const CHECKPOINT_PAGES = 500;
/**
 * Milliseconds of writing after which the copying is left to the next transaction. A stored response of 25 MB is written
 * in 45 ms and copied in 40, and other requests run in between.
 */
const LONG_MS = 10;
/** Maximum transactions in a row that leave it, because the log would grow without bound. */
const MOST_LEFT = 4;

/** One write of the transaction was rejected. The transaction is rolled back and repeated without it. */
class Refused extends Error {}

interface Batch {
  readonly writes: Write[];
  readonly done: PromiseWithResolvers<void>;
  turns: number;
  /** Number of writes at the end of the last turn; initially, at the end of the tick in which the batch began. */
  seen: number;
}

export class GroupCommit {
  readonly #connection: SqlConnection;
  readonly #schedule: Schedule;
  readonly #elapsedMs: () => number;
  readonly #begin: SqlStatement;
  readonly #commit: SqlStatement;
  #batch: Batch | null = null;
  /** Number of transactions that have left the copying of their pages, since the last one that copied. */
  #left = 0;

  /** @param elapsedMs monotonic clock in milliseconds; the system's by default */
  constructor(connection: SqlConnection, schedule: Schedule, elapsedMs = (): number => performance.now()) {
    this.#connection = connection;
    this.#schedule = schedule;
    this.#elapsedMs = elapsedMs;
    // `immediate` takes the write lock first, so that a busy database is detected before any work.
    this.#begin = connection.prepare('begin immediate');
    this.#commit = connection.prepare('commit');
  }

  /**
   * Adds a write to the next transaction.
   * @returns a promise of the batch, resolved once its writes are durable
   * @throws GatewayError `internal` if the transaction failed twice
   */
  add(write: Write): Promise<void> {
    const batch = (this.#batch ??= this.#open());
    batch.writes.push(write);
    return batch.done.promise;
  }

  /**
   * Same as `add`, for work that reads or decides inside the transaction. A `GatewayError` that it throws rolls back
   * only this work.
   * @returns the result of the work, once it is durable
   */
  async run<T>(work: () => T): Promise<T> {
    const outcome: { value?: T; refusal?: GatewayError } = {};
    await this.add(() => {
      if (outcome.refusal) return;
      try {
        outcome.value = work();
      } catch (error) {
        if (!GatewayError.is(error)) throw error;
        outcome.refusal = error;
        throw new Refused();
      }
    });
    if (outcome.refusal) throw outcome.refusal;
    return outcome.value as T;
  }

  /** Writes the waiting batch immediately. */
  async flush(): Promise<void> {
    const batch = this.#batch;
    if (!batch) return;
    this.#write(batch, true);
    await batch.done.promise;
  }

  #open(): Batch {
    const batch: Batch = { writes: [], done: Promise.withResolvers(), turns: 0, seen: 1 };
    this.#schedule(() => this.#turn(batch));
    // Several writes of one request do not indicate that more will come.
    queueMicrotask(() => {
      batch.seen = batch.writes.length;
    });
    return batch;
  }

  #turn(batch: Batch): void {
    // Already written by `flush`.
    if (this.#batch !== batch) return;
    batch.turns += 1;
    const size = batch.writes.length;
    if (size === batch.seen || size >= FULL_BATCH || batch.turns >= MOST_TURNS) {
      this.#write(batch, true);
      return;
    }
    batch.seen = size;
    this.#schedule(() => this.#turn(batch));
  }

  #write(batch: Batch, retry: boolean): void {
    if (this.#batch === batch) this.#batch = null;
    try {
      this.#begin.run();
      const start = this.#elapsedMs();
      for (const write of batch.writes) write();
      const isLong = this.#elapsedMs() - start > LONG_MS;
      this.#leaveCopying(isLong && this.#left < MOST_LEFT);
      this.#commit.run();
    } catch (cause) {
      if (this.#connection.inTransaction) this.#connection.exec('rollback');
      if (cause instanceof Refused) return this.#write(batch, retry);
      // Retried once, later, because another process may have held the lock for longer than the busy timeout.
      if (retry) this.#schedule(() => this.#write(batch, false));
      else batch.done.reject(new GatewayError('internal', failureText(cause), { cause }));
      return;
    }
    batch.done.resolve();
  }

  /** Leaves the copying of pages to the next transaction, or not. */
  #leaveCopying(isLeft: boolean): void {
    const wasLeft = this.#left > 0;
    if (isLeft !== wasLeft)
      this.#connection.exec(`pragma wal_autocheckpoint = ${isLeft ? 0 : CHECKPOINT_PAGES}`);
    this.#left = isLeft ? this.#left + 1 : 0;
  }
}

const FULL = /database or disk is full/;

function failureText(cause: unknown): string {
  const text = 'the database could not be written';
  return cause instanceof Error && FULL.test(cause.message) ? `${text}: its disk is full` : text;
}
