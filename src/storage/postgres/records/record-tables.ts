// The tables of records, partitioned by the day of their ids: a day that is too old goes as a whole. Columns exist for what
// lists filter by and limits count; the rest of a record, its attempts among it, is one value, as in SQLite.
import { type Kysely, sql } from 'kysely';
import type { Migration, PostgresSchema } from '../store.ts';

export const RECORD_MIGRATIONS: readonly Migration[] = [
  { name: 'records by day', isAdditive: true, up: recordTables },
];

/** Tables that are partitioned, each with a column `id` of `row-ids.ts`. */
export type DayTable = 'records' | 'record_contents';

async function recordTables(db: Kysely<PostgresSchema>): Promise<void> {
  // Not more indexes: every record would pay for them. The sums say in which hours a search has to look.
  await sql`create table records (
    id bytea primary key,
    created_at double precision not null,
    project text collate "C" not null,
    key text collate "C" not null,
    model text collate "C" not null,
    provider text collate "C" not null,
    endpoint text collate "C" not null,
    protocol text collate "C" not null,
    end_user text collate "C",
    status integer not null,
    outcome smallint not null,
    is_late boolean not null,
    requests smallint not null,
    tokens bigint not null,
    nano_usd bigint not null,
    cost_usd double precision,
    record bytea not null
  ) partition by range (id)`.execute(db);
  await sql`create table record_contents (
    id bytea primary key,
    request text not null,
    answer text not null
  ) partition by range (id)`.execute(db);
  // Ids that are none of the gateway's own have no day.
  for (const table of ['records', 'record_contents'] as const)
    await sql`create table ${sql.table(`${table}_without_day`)} partition of ${sql.table(table)}
      for values from (${sql.lit('\\xff')}) to (maxvalue)`.execute(db);
  // Records that do not lie where their time is: counts that came late, and ids without a day.
  await sql`create table records_elsewhere (
    created_at double precision not null,
    id bytea not null,
    primary key (created_at, id)
  )`.execute(db);
}
