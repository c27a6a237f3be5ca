// What was deleted of turns that a journal may still have: such a journal does not bring it back. Rows are as long as a journal
// may be left behind, which is about three months.
import { type Kysely, sql } from 'kysely';
import { ID } from './columns.ts';
import type { Migration, PostgresSchema, Tx } from './store.ts';

/** How long it is known that something was deleted: longer than a journal is left behind, other than in a backup of it. */
const KNOWN_MS = 90 * 86_400_000;
/** Rows forgotten with one statement. */
const FORGET_ROWS = 500;

/** Only this file knows the table. */
interface Tables {
  deleted_of_turns: {
    /** Whose it was: the project of a response, the conversation of an item. */
    owner_id: string;
    id: string;
    /** Unix milliseconds. */
    deleted_at: number;
  };
}

export const DELETION_MIGRATIONS: readonly Migration[] = [
  {
    name: 'what was deleted of turns',
    isAdditive: true,
    async up(db) {
      await db.schema
        .createTable('deleted_of_turns')
        .addColumn('owner_id', ID, (c) => c.notNull())
        .addColumn('id', ID, (c) => c.notNull())
        .addColumn('deleted_at', 'bigint', (c) => c.notNull())
        .addPrimaryKeyConstraint('deleted_of_turns_key', ['owner_id', 'id'])
        .execute();
      const table = db.schema.createIndex('deleted_of_turns_in_order').on('deleted_of_turns');
      await table.column('deleted_at').execute();
    },
  },
];

/** Notes a deletion in its transaction. @param ownerId project of a response, or conversation of an item */
export async function noteDeleted(tx: Tx, ownerId: string, id: string): Promise<void> {
  const deletedAt = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
  await tablesOf(tx)
    .insertInto('deleted_of_turns')
    .values({ owner_id: ownerId, id, deleted_at: deletedAt })
    .onConflict((conflict) => conflict.columns(['owner_id', 'id']).doUpdateSet({ deleted_at: deletedAt }))
    .execute();
}

/** Those of these ids that were deleted. @param ownerId as of `noteDeleted` */
export async function deletedOf(
  tx: Tx,
  ownerId: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await tablesOf(tx)
    .selectFrom('deleted_of_turns')
    .select('id')
    .where('owner_id', '=', ownerId)
    .where('id', '=', sql<string>`any(${ids}::text[])`)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** Forgets some of what was deleted long before. @param nowMs Unix milliseconds */
export async function forgetDeleted(db: Kysely<PostgresSchema>, nowMs: number): Promise<void> {
  const tables = tablesOf(db);
  const old = tables
    .selectFrom('deleted_of_turns')
    .select(['owner_id', 'id'])
    .where('deleted_at', '<', nowMs - KNOWN_MS)
    .orderBy('deleted_at')
    .limit(FORGET_ROWS);
  await tables
    .deleteFrom('deleted_of_turns')
    .where((eb) => eb(eb.refTuple('owner_id', 'id'), 'in', old.$asTuple('owner_id', 'id')))
    .execute();
}

function tablesOf(db: Kysely<PostgresSchema>): Kysely<Tables> {
  return db as unknown as Kysely<Tables>;
}
