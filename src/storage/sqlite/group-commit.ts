// One transaction for the writes that arrive together. All stores of a database share one instance, so that what
// one request leaves behind (its record, its stored response) is written whole or not at all. Knows no tables.
import { GatewayError } from '../../canonical/index.ts';
import type { SqlConnection, SqlStatement } from '../../base/runtime/sqlite.ts';

/** Runs a task soon, after the events that are ready now; `setImmediate` outside tests. */
export type Schedule = (task: () => void) => void;

/**
 * Runs prepared statements inside the transaction of a batch. It may run twice (a failed transaction is tried once
 * more), and what it throws fails its neighbours too: everything that can be refused is refused before.
 */
export type Write = () => void;

// A batch may wait for a few turns of the event loop while each brings more writes: a commit costs about
// as much as three records. An idle gateway's turn brings nothing and the batch is written at once.
const MOST_TURNS = 8;
const FULL_BATCH = 64;

/** Why a transaction was undone: one write of it was refused, and the others are written again without it. */
class Refused extends Error {}

interface Batch {
  readonly writes: Write[];
  readonly done: PromiseWithResolvers<void>;
  turns: number;
  /** Writes when the last turn ended; at first, those of the tick in which the batch began. */
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
    // `immediate`: take the write lock first, so that a busy database is met before anything was done.
    this.#begin = connection.prepare('begin immediate');
    this.#commit = connection.prepare('commit');
  }

  /**
   * Writes with the next transaction, which is that of everything added in this tick. The promise, one for the
   * whole batch, resolves when the writes survive the death of the process.
   * @throws GatewayError `internal` when the transaction failed twice
   */
  add(write: Write): Promise<void> {
    const batch = (this.#batch ??= this.#open());
    batch.writes.push(write);
    return batch.done.promise;
  }

  /**
   * `add` for work that reads or decides inside the transaction: gives what it returned, once that is durable. A `GatewayError`
   * of the work undoes that work alone.
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

  /** Writes what is still waiting, now. */
  async flush(): Promise<void> {
    const batch = this.#batch;
    if (!batch) return;
    this.#write(batch, true);
    await batch.done.promise;
  }

  #open(): Batch {
    const batch: Batch = { writes: [], done: Promise.withResolvers(), turns: 0, seen: 1 };
    this.#schedule(() => this.#turn(batch));
    // A request writes several things in one go: that is no sign of more to come.
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
      // The batch is tried once more, later: another process may have held the lock for longer than the busy timeout.
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
