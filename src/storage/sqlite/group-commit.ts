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
  readonly #begin: SqlStatement;
  readonly #commit: SqlStatement;
  #batch: Batch | null = null;

  constructor(connection: SqlConnection, schedule: Schedule) {
    this.#connection = connection;
    this.#schedule = schedule;
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
      for (const write of batch.writes) write();
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
}

const FULL = /database or disk is full/;

function failureText(cause: unknown): string {
  const text = 'the database could not be written';
  return cause instanceof Error && FULL.test(cause.message) ? `${text}: its disk is full` : text;
}
