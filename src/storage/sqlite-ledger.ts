// Writes and finds the ledger's records in SQLite. Appends that arrive together share one transaction and one
// promise. Knows nothing of prices, requests or HTTP.
import type { Kysely } from 'kysely';
import { GatewayError } from '../canonical/index.ts';
import type { AttemptRecord, GenerationRecord } from '../ledger/index.ts';
import type { SqlConnection, SqlStatement } from '../runtime/sqlite.ts';
import {
  ATTEMPT_COLUMNS,
  CONTENT_COLUMNS,
  decodeAttempt,
  decodeGeneration,
  encodeAttempt,
  encodeContent,
  encodeGeneration,
  GENERATION_COLUMNS,
  type Row,
} from './ledger-rows.ts';
import type { LedgerStore } from './ports.ts';
import type { Schema } from './schema.ts';

/** Runs a task soon, after the events that are ready now; `setImmediate` outside tests. */
export type Schedule = (task: () => void) => void;

// While every turn of the event loop brings more records, a batch may wait for a few turns: a commit costs about
// as much as three records. An idle gateway's turn brings nothing and the batch is written at once.
const MOST_TURNS = 8;
const FULL_BATCH = 64;

interface Batch {
  readonly generations: Row[];
  readonly attempts: Row[];
  readonly contents: Row[];
  readonly done: PromiseWithResolvers<void>;
  turns: number;
  /** Generations when the last turn ended. */
  seen: number;
}

export class SqliteLedger implements LedgerStore {
  readonly #connection: SqlConnection;
  readonly #db: Kysely<Schema>;
  readonly #schedule: Schedule;
  readonly #begin: SqlStatement;
  readonly #commit: SqlStatement;
  readonly #insertGeneration: SqlStatement;
  readonly #insertAttempt: SqlStatement;
  readonly #insertContent: SqlStatement;
  #batch: Batch | null = null;

  constructor(connection: SqlConnection, db: Kysely<Schema>, schedule: Schedule) {
    this.#connection = connection;
    this.#db = db;
    this.#schedule = schedule;
    // `immediate`: take the write lock first, so that a busy database is met before anything was done.
    this.#begin = connection.prepare('begin immediate');
    this.#commit = connection.prepare('commit');
    this.#insertGeneration = connection.prepare(insertSql(db, 'generations', ['id'], GENERATION_COLUMNS));
    this.#insertAttempt = connection.prepare(
      insertSql(db, 'attempts', ['generation_id', 'ordinal'], ATTEMPT_COLUMNS),
    );
    this.#insertContent = connection.prepare(
      insertSql(db, 'generation_contents', ['generation_id'], CONTENT_COLUMNS),
    );
  }

  append(generation: GenerationRecord, attempts: readonly AttemptRecord[]): Promise<void> {
    let rows: { generation: Row; attempts: Row[]; content: Row | null };
    try {
      // Rows are made here so that a record that cannot be written fails alone and not with its neighbours.
      rows = {
        generation: encodeGeneration(generation),
        attempts: attempts.map((attempt) => encodeAttempt(attempt, generation)),
        content: encodeContent(generation),
      };
    } catch (cause) {
      return Promise.reject(
        new GatewayError('internal', `the record ${generation.id} cannot be written`, { cause }),
      );
    }
    const batch = (this.#batch ??= this.#open());
    batch.generations.push(rows.generation);
    for (const row of rows.attempts) batch.attempts.push(row);
    if (rows.content) batch.contents.push(rows.content);
    return batch.done.promise;
  }

  async find(
    id: string,
    keyId: string,
  ): Promise<{ generation: GenerationRecord; attempts: readonly AttemptRecord[] } | null> {
    const row = await this.#db
      .selectFrom('generations')
      .selectAll()
      .where('id', '=', id)
      .where('key_id', '=', keyId)
      .executeTakeFirst();
    if (!row) return null;
    const content = await this.#db
      .selectFrom('generation_contents')
      .selectAll()
      .where('generation_id', '=', id)
      .executeTakeFirst();
    const attempts = await this.#db
      .selectFrom('attempts')
      .selectAll()
      .where('generation_id', '=', id)
      .orderBy('ordinal')
      .execute();
    const generation = decodeGeneration(row, content);
    return { generation, attempts: attempts.map((attempt) => decodeAttempt(attempt, generation)) };
  }

  /** Writes what is still waiting, now. */
  async flush(): Promise<void> {
    const batch = this.#batch;
    if (!batch) return;
    this.#write(batch, true);
    await batch.done.promise;
  }

  #open(): Batch {
    const batch: Batch = {
      generations: [],
      attempts: [],
      contents: [],
      done: Promise.withResolvers(),
      turns: 0,
      seen: 1,
    };
    this.#schedule(() => this.#turn(batch));
    return batch;
  }

  #turn(batch: Batch): void {
    // Already written by `flush`.
    if (this.#batch !== batch) return;
    batch.turns += 1;
    const size = batch.generations.length;
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
      for (const row of batch.generations) this.#insertGeneration.run(...row);
      for (const row of batch.attempts) this.#insertAttempt.run(...row);
      for (const row of batch.contents) this.#insertContent.run(...row);
      this.#commit.run();
    } catch (cause) {
      if (this.#connection.inTransaction) this.#connection.exec('rollback');
      // Once more, later: another process may have held the lock for longer than the busy timeout.
      if (retry) this.#schedule(() => this.#write(batch, false));
      else batch.done.reject(new GatewayError('internal', 'the ledger could not be written', { cause }));
      return;
    }
    batch.done.resolve();
  }
}

/**
 * One INSERT with a placeholder per column. A known key changes nothing; any other violation is an error, which
 * `insert or ignore` would hide.
 */
function insertSql(
  db: Kysely<Schema>,
  table: 'generations' | 'attempts' | 'generation_contents',
  key: readonly string[],
  columns: readonly string[],
): string {
  const row = Object.fromEntries(columns.map((column) => [column, '']));
  return db
    .insertInto(table)
    .values(row as never)
    .onConflict((conflict) => conflict.columns(key as never).doNothing())
    .compile().sql;
}
