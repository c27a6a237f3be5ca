// Deletes old sums, a millisecond's worth at a time: hours and end users of days before a time; the days become part of
// one row of before all days for each thing that they are of, so that sums of all time stay as they are.
import type { SqlStatement } from '../../../runtime/sqlite.ts';
import type { UsageTable } from '../schema.ts';
import type { SqliteBase } from '../store.ts';
import { DAY_HOURS, HOUR_MS } from '../../usage/hours.ts';
import { END_USER_KEYS } from './end-user-reader.ts';
import { TOTALS_KEYS, USAGE_KEYS } from './usage-tables.ts';
import type { UsageWriter } from './usage-writer.ts';

/** Rows that are deleted with one statement, and days that are read with one. */
const ROWS = 50;
const DAYS = 20;

/** Tables whose rows simply go, and their keys. */
const BY_HOUR = {
  usage_hourly: USAGE_KEYS,
  usage_hour_totals: TOTALS_KEYS,
  usage_end_users: END_USER_KEYS,
  usage_end_user_rows: ['period', 'project'],
} as const;

export class UsagePurge {
  readonly #writer: UsageWriter;
  /** Bind the hour that ends it and how many. */
  readonly #deleteHours: readonly SqlStatement[];
  /** Binds the day that ends it and how many. */
  readonly #days: SqlStatement;
  /** Binds the keys. */
  readonly #deleteDay: SqlStatement;

  constructor({ connection, db }: SqliteBase, writer: UsageWriter) {
    this.#writer = writer;
    this.#deleteHours = Object.entries(BY_HOUR).map(([table, keys]) =>
      connection.prepare(deleteOldest(table, keys)),
    );
    const days = db
      .selectFrom('usage_daily')
      .selectAll()
      .where('period', '>', 0)
      .where('period', '<', 0)
      .orderBy('period')
      .limit(1);
    let deleteDay = db.deleteFrom('usage_daily');
    for (const key of USAGE_KEYS) deleteDay = deleteDay.where(key, '=', 0);
    this.#days = connection.prepare(days.compile().sql);
    this.#deleteDay = connection.prepare(deleteDay.compile().sql);
  }

  /** Deletes pieces inside a transaction, each when it is asked for. Gives how many rows each had. */
  *pieces(beforeMs: number): Generator<number> {
    const folded = Math.floor((this.#writer.folded()[0] ?? 0) / DAY_HOURS);
    const end = Math.min(Math.floor(beforeMs / HOUR_MS / DAY_HOURS), folded);
    for (const statement of this.#deleteHours)
      for (let rows = ROWS; rows === ROWS;) {
        rows = statement.run(end * DAY_HOURS, ROWS).changes;
        if (rows > 0) yield rows;
      }
    for (;;) {
      const days = this.#days.all(0, end, DAYS) as unknown as UsageTable[];
      if (days.length === 0) return;
      for (const day of days) {
        const [, ...rest] = USAGE_KEYS.map((key) => day[key]);
        this.#writer.addToDay([0, ...rest], this.#writer.sumsOf(day));
        this.#deleteDay.run(day.period, ...rest);
        yield 1;
      }
    }
  }
}

/** These tables have no row numbers. */
function deleteOldest(table: string, keys: readonly string[]): string {
  const all = keys.join(', ');
  return `delete from ${table} where (${all}) in
    (select ${all} from ${table} where period < ? order by ${all} limit ?)`;
}
