// What is done to sums in the background, some rows at a time: rows of several writers become one when their time is over, and
// old ones go; the days become part of one row of before all days for each thing that they are of, so that sums of all time
// stay as they are. Whoever takes rows away adds them elsewhere in the same transaction; several processes may do it at once.
import { sql, type Transaction } from 'kysely';
import { addUsageSums, noUsageSums, USAGE_COUNTS, type UsageCounts } from '../../../usage/index.ts';
import { DAY_HOURS, HOUR_MS } from '../../usage/hours.ts';
import type { RecordNames } from '../records/counted-record.ts';
import type { PostgresBase, PostgresSchema } from '../store.ts';
import { detailsOf, NO_WRITER, type UsageRow, UsageRows } from './usage-rows.ts';
import { USAGE_NAMES, type UsageTable } from './usage-tables.ts';

/** Rows of one step. */
const ROWS = 500;

/** The row of before all days. */
const BEFORE_ALL_DAYS = 0;

type TakenRow = UsageCounts & RecordNames & { readonly period: number; readonly details: Buffer };

export class UsageUpkeep {
  readonly #transaction: PostgresBase['transaction'];
  readonly #rows = new UsageRows();

  constructor(transaction: PostgresBase['transaction']) {
    this.#transaction = transaction;
  }

  /** @returns false when nothing is left to do */
  async putTogether(nowMs: number): Promise<boolean> {
    const hour = Math.floor(nowMs / HOUR_MS);
    const over = { usage_hourly: hour, usage_daily: Math.floor(hour / DAY_HOURS) } as const;
    for (const table of ['usage_hourly', 'usage_daily'] as const) {
      const taken = await this.#move(
        table,
        sql`writer <> ${NO_WRITER} and period < ${over[table]}`,
        (period) => period,
      );
      if (taken > 0) return true;
    }
    return false;
  }

  /** @param day since 1970: what is before it goes. @returns how many rows; 0 when none is left */
  async purge(day: number): Promise<number> {
    for (const table of [
      'usage_hourly',
      'usage_hour_totals',
      'usage_end_users',
      'usage_end_user_rows',
    ] as const) {
      const gone = await this.#transaction((tx) => deleteBefore(tx, table, day * DAY_HOURS));
      if (gone > 0) return gone;
    }
    return this.#move(
      'usage_daily',
      sql`period > ${BEFORE_ALL_DAYS} and period < ${day}`,
      () => BEFORE_ALL_DAYS,
    );
  }

  /** Adds rows to those of another period, which belong to nobody. @returns how many were taken */
  #move(table: UsageTable, which: ReturnType<typeof sql>, to: (period: number) => number): Promise<number> {
    return this.#transaction(async (tx) => {
      const taken = await take(tx, table, which);
      const rows = new Map<string, UsageRow>();
      for (const row of taken) {
        const period = to(row.period);
        const names = Object.fromEntries(
          USAGE_NAMES.map((name) => [name, row[name]]),
        ) as unknown as RecordNames;
        const name = JSON.stringify([period, names]);
        const sum = rows.get(name) ?? { period, names, sums: noUsageSums() };
        rows.set(name, sum);
        addUsageSums(sum.sums, { counts: row, details: detailsOf(row.details) });
      }
      await this.#rows.addRows(tx, table, [...rows.values()], NO_WRITER);
      return taken.length;
    });
  }
}

async function take(
  tx: Transaction<PostgresSchema>,
  table: UsageTable,
  which: ReturnType<typeof sql>,
): Promise<readonly TakenRow[]> {
  const columns = sql.join(
    ['period', ...USAGE_NAMES, ...USAGE_COUNTS, 'details'].map((name) => sql.ref(name)),
  );
  // What another process takes just now is left to it: nobody waits here.
  const { rows } = await sql<TakenRow>`
    delete from ${sql.table(table)} where ctid = any(array(
      select ctid from ${sql.table(table)} where ${which} order by period limit ${ROWS} for update skip locked))
    returning ${columns}`.execute(tx);
  return rows;
}

async function deleteBefore(
  tx: Transaction<PostgresSchema>,
  table: 'usage_hourly' | 'usage_hour_totals' | 'usage_end_users' | 'usage_end_user_rows',
  period: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table)} where ctid = any(array(
      select ctid from ${sql.table(table)} where period < ${period} order by period limit ${ROWS} for update skip locked))`.execute(
    tx,
  );
  return Number(numAffectedRows ?? 0);
}
