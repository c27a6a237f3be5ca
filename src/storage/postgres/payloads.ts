// What each side of a request sent, in PostgreSQL: one row for each payload, the oldest forgotten first. Written after the
// answer, and nobody waits.
import { type Kysely, sql } from 'kysely';
import { BEHIND_ALL, FORGOTTEN_AT_ONCE, type PayloadTables, payloadsOf, rowsOf } from '../payload-rows.ts';
import type { PayloadStore, StoredPayload } from '../ports.ts';
import { firstIdAt, textId } from '../record-ids.ts';
import { ID } from './columns.ts';
import type { PostgresBase, PostgresStore } from './store.ts';

type Db = Kysely<PayloadTables>;

class PostgresPayloads implements PayloadStore {
  readonly #db: Db;
  /** Of all payloads, in bytes; undefined until somebody asks. Other processes are counted with the next purge. */
  #bytes: number | undefined;

  constructor({ db }: PostgresBase) {
    this.#db = db as unknown as Db;
  }

  async put(generationId: string, payloads: readonly StoredPayload[], maxBytes: number): Promise<void> {
    const rows = rowsOf(generationId, payloads);
    if (rows.length === 0) return;
    const held = await this.#held();
    const added = await this.#db
      .insertInto('payloads')
      .values(rows.map((row) => ({ ...row, body: Buffer.from(row.body) })))
      .onConflict((conflict) => conflict.doNothing())
      .returning('bytes')
      .execute();
    this.#bytes = added.reduce((sum, { bytes }) => sum + Number(bytes), held);
    if (this.#bytes > maxBytes) await this.#forget(BEHIND_ALL, (left) => left > maxBytes);
  }

  async find(generationId: string): Promise<readonly StoredPayload[]> {
    const rows = await this.#db
      .selectFrom('payloads')
      .select(['attempt', 'stage', 'head', 'body'])
      .where('generation_id', '=', generationId)
      .orderBy('attempt')
      .orderBy('stage')
      .execute();
    // The driver's buffers are views of what it read from the socket: copied, so that nothing else is kept alive.
    return payloadsOf(rows.map((row) => ({ ...row, body: new Uint8Array(row.body) })));
  }

  async purge(beforeMs: number): Promise<number> {
    const forgotten = await this.#forget(textId(firstIdAt(beforeMs)), () => true);
    if (forgotten === 0) this.#bytes = undefined;
    return forgotten;
  }

  async #held(): Promise<number> {
    if (this.#bytes !== undefined) return this.#bytes;
    const total = await this.#db
      .selectFrom('payloads')
      .select((eb) => eb.fn.sum('bytes').as('bytes'))
      .executeTakeFirst();
    return (this.#bytes ??= Number(total?.bytes ?? 0));
  }

  /** Forgets the oldest requests before an id, some at most. @param goesOn asked with what is held before each */
  async #forget(end: string, goesOn: (bytes: number) => boolean): Promise<number> {
    let held = await this.#held();
    const oldest = await this.#db
      .selectFrom('payloads')
      .select(['generation_id', (eb) => eb.fn.sum('bytes').as('bytes')])
      .where('generation_id', '<', end)
      .groupBy('generation_id')
      .orderBy('generation_id')
      .limit(FORGOTTEN_AT_ONCE)
      .execute();
    const ids: string[] = [];
    for (const { generation_id: id, bytes } of oldest) {
      if (!goesOn(held)) break;
      ids.push(id);
      held -= Number(bytes);
    }
    if (ids.length > 0)
      await this.#db
        .deleteFrom('payloads')
        .where('generation_id', '=', sql<string>`any(${ids}::text[])`)
        .execute();
    this.#bytes = held;
    return ids.length;
  }
}

export const postgresPayloads: PostgresStore<PayloadStore> = {
  migrations: [
    {
      name: 'payloads of requests',
      isAdditive: true,
      up: (db) =>
        db.schema
          .createTable('payloads')
          .addColumn('generation_id', ID, (column) => column.notNull())
          .addColumn('attempt', 'integer', (column) => column.notNull())
          .addColumn('stage', 'integer', (column) => column.notNull())
          .addColumn('bytes', 'bigint', (column) => column.notNull())
          .addColumn('head', 'text', (column) => column.notNull())
          .addColumn('body', 'bytea', (column) => column.notNull())
          .addPrimaryKeyConstraint('payloads_of_generations', ['generation_id', 'attempt', 'stage'])
          .execute(),
    },
  ],
  open: (base) => new PostgresPayloads(base),
};
