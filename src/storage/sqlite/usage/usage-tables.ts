// The tables of sums, and what tells the records that are in them from those that are not.
import { type CreateTableBuilder, type Kysely, sql } from 'kysely';
import { USAGE_COUNTS, type UsageCount } from '../../../usage/index.ts';
import { OF_ALL } from '../../usage/hour-totals.ts';
import type { Migration } from '../migrations.ts';
import type { Schema } from '../schema.ts';

/** What sums are kept by, in the order of their rows. */
export const USAGE_KEYS = ['period', 'project', 'key', 'model', 'provider', 'endpoint', 'protocol'] as const;

export type UsageTableName = 'usage_hourly' | 'usage_daily';

/** What totals of hours are kept by, in the order of their rows. */
export const TOTALS_KEYS = ['period', 'dimension', 'name'] as const;

/** The setting that says which rows of hours are in the rows of their days: a JSON array, the keys of the last one. */
export const FOLDED = 'usage_folded';

export const USAGE_MIGRATIONS: readonly Migration[] = [
  { name: 'sums of usage', up: usageTables, isAdditive: true },
  { name: 'turns in sums of usage', up: turns, isAdditive: true },
  { name: 'records whose sums are in memory', up: notes, isAdditive: true },
  { name: 'totals of hours', up: hourTotals, isAdditive: true },
];

/** Counts that came after the tables. Older programs do not know them, and add 0. */
const LATER_COUNTS: readonly UsageCount[] = ['charged_errors', 'tool_turns'];

/** The settings that say before which id records are left that are in no sum yet; see `backfill.ts`. */
export const LEFT_RECORDS = 'usage_left_records';
export const LEFT_GENERATIONS = 'usage_left_generations';

/** The setting that says before which time (Unix milliseconds) records were deleted; see `ledger-purge.ts`. */
export const PURGED_BEFORE = 'usage_purged_before';

/** Rows in their order. Binds the keys of the last one before, the period that ends it, and how many. */
export function rowsBehind(db: Kysely<Schema>, table: UsageTableName) {
  const keys = sql.join(USAGE_KEYS.map((key) => sql.ref(key)));
  const bound = sql.join(USAGE_KEYS.map(() => 0));
  let rows = db
    .selectFrom(table)
    .selectAll()
    .where(sql<boolean>`(${keys}) > (${bound})`)
    .where('period', '<', 0);
  for (const key of USAGE_KEYS) rows = rows.orderBy(key);
  return rows.limit(1);
}

async function usageTables(db: Kysely<Schema>): Promise<void> {
  await sumsTable(db, 'usage_hourly');
  await sumsTable(db, 'usage_daily');
  await db.schema
    .createTable('usage_end_users')
    .addColumn('period', 'integer', (c) => c.notNull())
    .addColumn('project', 'integer', (c) => c.notNull())
    .addColumn('end_user', 'blob', (c) => c.notNull())
    .addColumn('key', 'integer', (c) => c.notNull())
    .addColumn('model', 'integer', (c) => c.notNull())
    .addColumn('requests', 'integer', (c) => c.notNull())
    .addColumn('errors', 'integer', (c) => c.notNull())
    .addColumn('input_tokens', 'integer', (c) => c.notNull())
    .addColumn('output_tokens', 'integer', (c) => c.notNull())
    .addColumn('nano_usd', 'integer', (c) => c.notNull())
    .addColumn('unpriced', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('usage_end_users_key', ['period', 'project', 'end_user', 'key', 'model'])
    .modifyEnd(sql`without rowid`)
    .execute();
  await db.schema
    .createTable('usage_end_user_rows')
    .addColumn('period', 'integer', (c) => c.notNull())
    .addColumn('project', 'integer', (c) => c.notNull())
    .addColumn('rows', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('usage_end_user_rows_key', ['period', 'project'])
    .modifyEnd(sql`without rowid`)
    .execute();
  await db.schema
    .createTable('records_elsewhere')
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addColumn('id', 'blob', (c) => c.notNull())
    .addPrimaryKeyConstraint('records_elsewhere_key', ['created_at', 'id'])
    .modifyEnd(sql`without rowid`)
    .execute();
  await db.schema.alterTable('records').addColumn('counted', 'integer').execute();
  await db.schema
    .createTable('records_uncounted')
    .addColumn('id', 'blob', (c) => c.primaryKey().notNull())
    .modifyEnd(sql`without rowid`)
    .execute();
  // An older program may still be running beside this one, or be put back: what it writes is noted here, and counted later.
  await sql`create trigger records_of_older_programs after insert on records when new.counted is null
    begin insert or ignore into records_uncounted (id) values (new.id); end`.execute(db);
  // Behind every id of theirs.
  await sql`insert into settings (name, value)
    select ${LEFT_RECORDS}, ${'f'.repeat(32)} where exists (select 1 from records)`.execute(db);
  await sql`insert into settings (name, value)
    select ${LEFT_GENERATIONS}, ${'\u{10ffff}'} where exists (select 1 from generations)`.execute(db);
  // Records of before today are counted for their hour and their day at once.
  await sql`insert into settings (name, value)
    values (${FOLDED}, json_array(unixepoch() / 86400 * 24, 0, 0, 0, 0, 0, 0))`.execute(db);
}

function sumsTable(db: Kysely<Schema>, name: UsageTableName): Promise<void> {
  // Zeros take no room in a row beyond its head.
  const counts = USAGE_COUNTS.filter((count) => !LATER_COUNTS.includes(count));
  const numbers = [...USAGE_KEYS, ...counts].reduce(
    (table, column) => table.addColumn(column, 'integer', (c) => c.notNull()),
    db.schema.createTable(name) as CreateTableBuilder<UsageTableName, string>,
  );
  return numbers
    .addColumn('details', 'blob', (c) => c.notNull())
    .addPrimaryKeyConstraint(`${name}_key`, [...USAGE_KEYS])
    .modifyEnd(sql`without rowid`)
    .execute();
}

async function turns(db: Kysely<Schema>): Promise<void> {
  for (const table of ['usage_hourly', 'usage_daily', 'usage_end_users'] as const)
    for (const count of LATER_COUNTS)
      await db.schema
        .alterTable(table)
        .addColumn(count, 'integer', (c) => c.notNull().defaultTo(0))
        .execute();
}

async function notes(db: Kysely<Schema>): Promise<void> {
  await db.schema
    .createTable('usage_notes')
    .addColumn('writer', 'text', (c) => c.notNull())
    .addColumn('number', 'integer', (c) => c.notNull())
    .addColumn('oldest', 'integer', (c) => c.notNull())
    .addColumn('ids', 'blob', (c) => c.notNull())
    .addPrimaryKeyConstraint('usage_notes_key', ['writer', 'number'])
    .execute();
  await db.schema
    .createTable('usage_settlements')
    .addColumn('writer', 'text', (c) => c.primaryKey().notNull())
    .addColumn('last', 'integer', (c) => c.notNull())
    .addColumn('parts', 'integer', (c) => c.notNull())
    .addColumn('done', 'integer', (c) => c.notNull())
    .modifyEnd(sql`without rowid`)
    .execute();
}

async function hourTotals(db: Kysely<Schema>): Promise<void> {
  const numbers = [...TOTALS_KEYS, ...USAGE_COUNTS].reduce(
    (table, column) => table.addColumn(column, 'integer', (c) => c.notNull()),
    db.schema.createTable('usage_hour_totals') as CreateTableBuilder<'usage_hour_totals', string>,
  );
  await numbers
    .addColumn('details', 'blob', (c) => c.notNull())
    .addPrimaryKeyConstraint('usage_hour_totals_key', [...TOTALS_KEYS])
    .modifyEnd(sql`without rowid`)
    .execute();
  for (const [event, row] of [
    ['insert', 'new'],
    ['update', 'new'],
    ['delete', 'old'],
  ] as const)
    // The mark, and the notes of those who add it up.
    await sql`create trigger ${sql.id(`totals_after_${event}`)} after ${sql.raw(event)} on usage_hourly
      begin delete from usage_hour_totals where period = ${sql.raw(row)}.period and dimension <= ${sql.lit(OF_ALL)}; end`.execute(
      db,
    );
}
