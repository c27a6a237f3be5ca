// Deletes old records and contents by dropping the days that they are in, a day at a time; what has no day goes row by row.
// All that is deleted is in the sums.
import { type Kysely, sql, type Transaction } from 'kysely';
import type { PostgresBase, PostgresSchema } from '../store.ts';
import { PURGED_BEFORE } from '../usage/usage-tables.ts';
import type { DayPartitions } from './day-partitions.ts';
import { dayAt, startOfDay } from './row-ids.ts';

/** Rows that are deleted in one go. */
const ROWS = 1_000;

export interface RecordPurgeOptions extends Pick<PostgresBase, 'db' | 'transaction'> {
  readonly days: DayPartitions;
  readonly contentDays: DayPartitions;
}

export class RecordPurge {
  readonly #db: Kysely<PostgresSchema>;
  readonly #transaction: PostgresBase['transaction'];
  readonly #days: DayPartitions;
  readonly #contentDays: DayPartitions;

  constructor({ db, transaction, days, contentDays }: RecordPurgeOptions) {
    this.#db = db;
    this.#transaction = transaction;
    this.#days = days;
    this.#contentDays = contentDays;
  }

  /** Deletes records of days before a time, with their contents. @returns how many days or rows; 0 when none is left */
  async records(beforeMs: number): Promise<number> {
    const contents = await this.contents(beforeMs);
    if (contents > 0) return contents;
    const day = dayAt(beforeMs);
    // First: what is gone is not looked for, even if it should end in between.
    await this.#transaction((tx) => setPurged(tx, startOfDay(day)));
    if (await this.#days.dropBefore(this.#db, day)) return 1;
    const rows = await this.#transaction((tx) => deleteWithoutDay(tx, beforeMs));
    if (rows > 0) return rows;
    return this.#transaction((tx) => deleteElsewhere(tx, beforeMs));
  }

  /** The same for prompts and answers alone. */
  async contents(beforeMs: number): Promise<number> {
    if (await this.#contentDays.dropBefore(this.#db, dayAt(beforeMs))) return 1;
    const { numAffectedRows } = await sql`
      delete from record_contents_without_day where ctid = any(array(
        select c.ctid from record_contents_without_day c join records_without_day r using (id)
        where r.created_at < ${beforeMs} limit ${ROWS}))`.execute(this.#db);
    return Number(numAffectedRows ?? 0);
  }
}

async function setPurged(tx: Transaction<PostgresSchema>, ms: number): Promise<void> {
  await sql`
    insert into settings as s (name, value) values (${PURGED_BEFORE}, ${String(ms)})
    on conflict (name) do update set value = excluded.value
    where s.value::float8 < excluded.value::float8`.execute(tx);
}

async function deleteWithoutDay(tx: Transaction<PostgresSchema>, beforeMs: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from records_without_day where ctid = any(array(
      select ctid from records_without_day where created_at < ${beforeMs} limit ${ROWS}))`.execute(tx);
  return Number(numAffectedRows ?? 0);
}

async function deleteElsewhere(tx: Transaction<PostgresSchema>, beforeMs: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from records_elsewhere e where ctid = any(array(
      select e.ctid from records_elsewhere e where e.created_at < ${beforeMs} limit ${ROWS}))`.execute(tx);
  return Number(numAffectedRows ?? 0);
}
