// What each side of a request sent: one row for each payload, the oldest first. Written after the answer, and nobody waits.
import type { Kysely } from 'kysely';
import type { SqlStatement } from '../../runtime/sqlite.ts';
import { BEHIND_ALL, FORGOTTEN_AT_ONCE, type PayloadTables, payloadsOf, rowsOf } from '../payload-rows.ts';
import type { PayloadStore, StoredPayload } from '../ports.ts';
import { firstIdAt, textId } from '../record-ids.ts';
import type { GroupCommit } from './group-commit.ts';
import type { SqliteBase, SqliteStore } from './store.ts';

const EMPTY = { generation_id: '', attempt: 0, stage: 0, bytes: 0, head: '', body: new Uint8Array() };

class SqlitePayloads implements PayloadStore {
  readonly #commits: GroupCommit;
  readonly #tables: Kysely<PayloadTables>;
  readonly #insert: SqlStatement;
  readonly #total: SqlStatement;
  /** Bind what comes behind the last id, and how many. */
  readonly #oldest: SqlStatement;
  /** Binds an id. */
  readonly #delete: SqlStatement;
  /** Of all payloads, in bytes; undefined until somebody asks. Other processes are counted with the next purge. */
  #bytes: number | undefined;

  constructor({ connection, db, commits }: SqliteBase) {
    this.#commits = commits;
    const tables = db as unknown as Kysely<PayloadTables>;
    this.#tables = tables;
    const prepare = (query: { compile(): { sql: string } }): SqlStatement =>
      connection.prepare(query.compile().sql);
    const insert = tables.insertInto('payloads').values(EMPTY);
    this.#insert = prepare(insert.onConflict((conflict) => conflict.doNothing()));
    this.#total = prepare(tables.selectFrom('payloads').select((eb) => eb.fn.sum('bytes').as('bytes')));
    this.#oldest = prepare(
      tables
        .selectFrom('payloads')
        .select(['generation_id', (eb) => eb.fn.sum('bytes').as('bytes')])
        .where('generation_id', '<', '')
        .groupBy('generation_id')
        .orderBy('generation_id')
        .limit(FORGOTTEN_AT_ONCE),
    );
    this.#delete = prepare(tables.deleteFrom('payloads').where('generation_id', '=', ''));
  }

  put(generationId: string, payloads: readonly StoredPayload[], maxBytes: number): Promise<void> {
    return this.#commits.add(() => {
      let held = this.#held();
      for (const { generation_id: id, attempt, stage, bytes, head, body } of rowsOf(generationId, payloads))
        held += this.#insert.run(id, attempt, stage, bytes, head, body).changes * bytes;
      this.#bytes = held;
      if (held > maxBytes) this.#forget(BEHIND_ALL, (left) => left > maxBytes);
    });
  }

  async find(generationId: string): Promise<readonly StoredPayload[]> {
    const rows = await this.#tables
      .selectFrom('payloads')
      .select(['attempt', 'stage', 'head', 'body'])
      .where('generation_id', '=', generationId)
      .orderBy('attempt')
      .orderBy('stage')
      .execute();
    return payloadsOf(rows);
  }

  purge(beforeMs: number): Promise<number> {
    return this.#commits.run(() => {
      const forgotten = this.#forget(textId(firstIdAt(beforeMs)), () => true);
      // Now and then, what other processes have written is counted as well.
      if (forgotten === 0) this.#bytes = undefined;
      return forgotten;
    });
  }

  #held(): number {
    return (this.#bytes ??= Number((this.#total.all()[0] as { bytes: unknown }).bytes ?? 0));
  }

  /** Forgets the oldest requests before an id, some at most. @param goesOn asked with what is held before each */
  #forget(end: string, goesOn: (bytes: number) => boolean): number {
    let held = this.#held();
    let forgotten = 0;
    for (const row of this.#oldest.all(end, FORGOTTEN_AT_ONCE)) {
      if (!goesOn(held)) break;
      const { generation_id: id, bytes } = row as { generation_id: string; bytes: number };
      this.#delete.run(id);
      held -= bytes;
      forgotten += 1;
    }
    this.#bytes = held;
    return forgotten;
  }
}

export const sqlitePayloads: SqliteStore<PayloadStore> = {
  migrations: [
    {
      name: 'payloads of requests',
      isAdditive: true,
      up: (db) =>
        db.schema
          .createTable('payloads')
          .addColumn('generation_id', 'text', (column) => column.notNull())
          .addColumn('attempt', 'integer', (column) => column.notNull())
          .addColumn('stage', 'integer', (column) => column.notNull())
          .addColumn('bytes', 'integer', (column) => column.notNull())
          .addColumn('head', 'text', (column) => column.notNull())
          .addColumn('body', 'blob', (column) => column.notNull())
          .addPrimaryKeyConstraint('payloads_of_generations', ['generation_id', 'attempt', 'stage'])
          .execute(),
    },
  ],
  open: (base) => new SqlitePayloads(base),
};
