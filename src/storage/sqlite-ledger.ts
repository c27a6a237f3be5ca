// Writes and finds the ledger's records in SQLite. Which appends share a transaction is GroupCommit's to decide.
// Knows nothing of prices, requests or HTTP.
import type { Kysely } from 'kysely';
import { GatewayError } from '../canonical/index.ts';
import type { AttemptRecord, GenerationRecord } from '../ledger/index.ts';
import type { SqlConnection, SqlStatement } from '../runtime/sqlite.ts';
import type { GroupCommit } from './group-commit.ts';
import {
  ATTEMPT_COLUMNS,
  CONTENT_COLUMNS,
  decodeAttempt,
  decodeGeneration,
  decodeOwnAttempt,
  encodeAttempt,
  encodeContent,
  encodeGeneration,
  GENERATION_COLUMNS,
  type Row,
} from './ledger-rows.ts';
import type { LedgerStore } from './ports.ts';
import type { Schema } from './schema.ts';

export class SqliteLedger implements LedgerStore {
  readonly #db: Kysely<Schema>;
  readonly #commits: GroupCommit;
  readonly #insertGeneration: SqlStatement;
  readonly #insertAttempt: SqlStatement;
  readonly #insertContent: SqlStatement;

  constructor(connection: SqlConnection, db: Kysely<Schema>, commits: GroupCommit) {
    this.#db = db;
    this.#commits = commits;
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
      const own = attempts.length === 1 ? attempts[0] : undefined;
      rows = {
        generation: encodeGeneration(generation, own),
        attempts: own ? [] : attempts.map((attempt) => encodeAttempt(attempt, generation)),
        content: encodeContent(generation),
      };
    } catch (cause) {
      return Promise.reject(
        new GatewayError('internal', `the record ${generation.id} cannot be written`, { cause }),
      );
    }
    return this.#commits.add(() => {
      this.#insertGeneration.run(...rows.generation);
      for (const row of rows.attempts) this.#insertAttempt.run(...row);
      if (rows.content) this.#insertContent.run(...rows.content);
    });
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
    const generation = decodeGeneration(row, content);
    const own = decodeOwnAttempt(row, generation);
    if (own) return { generation, attempts: [own] };
    const attempts = await this.#db
      .selectFrom('attempts')
      .selectAll()
      .where('generation_id', '=', id)
      .orderBy('ordinal')
      .execute();
    return { generation, attempts: attempts.map((attempt) => decodeAttempt(attempt, generation)) };
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
