// The tables of sums. What many processes count at once has a row for each of a few writers, so that they seldom wait for each
// other; rows of what is over are put together later.
import { type Kysely, sql } from 'kysely';
import { USAGE_COUNTS } from '../../../usage/index.ts';
import { OF_ALL } from '../../usage/hour-totals.ts';
import type { Migration, PostgresSchema } from '../store.ts';

/** What sums are kept by, beside their time and their writer; empty texts are none. */
export const USAGE_NAMES = ['project', 'key', 'model', 'provider', 'endpoint', 'protocol'] as const;

export type UsageTable = 'usage_hourly' | 'usage_daily';

export const USAGE_MIGRATIONS: readonly Migration[] = [
  { name: 'sums of usage', isAdditive: true, up: usageTables },
  { name: 'totals of hours', isAdditive: true, up: hourTotals },
];

/** The first number of the locks that whoever changes rows of an hour holds; the second one is the hour. Any that nobody else takes. */
export const HOUR_LOCKS = 1_685_220_213;

/** The setting that says before which time (Unix milliseconds) records were deleted. */
export const PURGED_BEFORE = 'usage_purged_before';

async function usageTables(db: Kysely<PostgresSchema>): Promise<void> {
  const text = sql`text collate "C" not null`;
  const names = sql.join(USAGE_NAMES.map((name) => sql`${sql.ref(name)} ${text}`));
  const counts = sql.join(USAGE_COUNTS.map((name) => sql`${sql.ref(name)} bigint not null`));
  // Room in each page for the next version of a row: most rows change often while their hour runs.
  const room = sql`with (fillfactor = 70)`;
  for (const table of ['usage_hourly', 'usage_daily'] as const) {
    await sql`create table ${sql.table(table)} (
      period integer not null,
      ${names},
      writer smallint not null,
      ${counts},
      batches bigint not null,
      details bytea not null,
      primary key (period, ${sql.join(USAGE_NAMES.map((name) => sql.ref(name)))}, writer)
    ) ${room}`.execute(db);
    await sql`create index ${sql.ref(`${table}_apart`)} on ${sql.table(table)} (period) where writer <> 0`.execute(
      db,
    );
  }
  await sql`create table usage_end_users (
    period integer not null,
    project ${text},
    end_user ${text},
    key ${text},
    model ${text},
    writer smallint not null,
    requests bigint not null,
    errors bigint not null,
    charged_errors bigint not null,
    tool_turns bigint not null,
    input_tokens bigint not null,
    output_tokens bigint not null,
    nano_usd bigint not null,
    unpriced bigint not null,
    primary key (period, project, end_user, key, model, writer)
  ) ${room}`.execute(db);
  await sql`create table usage_end_user_rows (
    period integer not null,
    project ${text},
    rows integer not null,
    primary key (period, project)
  ) ${room}`.execute(db);
}

async function hourTotals(db: Kysely<PostgresSchema>): Promise<void> {
  const counts = sql.join(USAGE_COUNTS.map((name) => sql`${sql.ref(name)} bigint not null`));
  await sql`create table usage_hour_totals (
    period integer not null,
    dimension smallint not null,
    name text collate "C" not null,
    ${counts},
    details bytea not null,
    primary key (period, dimension, name)
  )`.execute(db);
  // What goes: the mark, and the notes of those who add it up. In the order of the hours, so that nobody waits in a circle.
  await sql`
    create function usage_hours_changed() returns trigger language plpgsql as $$
    declare
      hour integer;
    begin
      for hour in select distinct period from changed order by period loop
        perform pg_advisory_xact_lock_shared(${sql.lit(HOUR_LOCKS)}, hour);
        delete from usage_hour_totals where period = hour and dimension <= ${sql.lit(OF_ALL)};
      end loop;
      return null;
    end
    $$`.execute(db);
  for (const [event, rows] of [
    ['insert', 'new'],
    ['update', 'new'],
    ['delete', 'old'],
  ] as const)
    await sql`create trigger ${sql.ref(`totals_after_${event}`)} after ${sql.raw(event)} on usage_hourly
      referencing ${sql.raw(rows)} table as changed
      for each statement execute function usage_hours_changed()`.execute(db);
}
