// Adds to the rows of sums what was added up in memory, so that a row is written once for all that it counts. Rows of days are made of those of hours when the day is over (`fold`), so that
// nothing is written twice while it changes; what comes for such a day later is added to both.
import { type Kysely, sql } from 'kysely';
import {
  addUsageDetails,
  addUsageSums,
  noUsageSums,
  USAGE_COUNTS,
  type UsageDetails,
  type UsageSums,
} from '../../../usage/index.ts';
import type { SqlStatement } from '../../../runtime/sqlite.ts';
import { CompactReader } from '../../compact/reader.ts';
import type { SqliteNames } from '../names.ts';
import { CompactWriter } from '../../compact/writer.ts';
import type { Schema, UsageTable } from '../schema.ts';
import type { SqliteBase } from '../store.ts';
import type { CountedRecord } from './counted-record.ts';
import { EndUserWriter } from './end-user-writer.ts';
import { CountedSums, type PeriodSums, type SumsPart } from './counted-sums.ts';
import { DAY_HOURS } from '../../usage/hours.ts';
import { readDetails, writeDetails } from '../../usage/usage-details.ts';
import { FOLDED, rowsBehind, USAGE_KEYS, type UsageTableName } from './usage-tables.ts';

export class UsageWriter {
  readonly #names: SqliteNames;
  readonly #tables: Readonly<Record<UsageTableName, TableStatements>>;
  readonly #details: CompactWriter;
  readonly #endUsers: EndUserWriter;
  /** Binds nothing; gives the keys of the last row that is in its day. */
  readonly #folded: SqlStatement;
  /** Binds the keys as JSON. */
  readonly #setFolded: SqlStatement;
  /** Binds the keys of the last row before, the hour that ends it, and how many. */
  readonly #hours: SqlStatement;

  constructor(base: Pick<SqliteBase, 'connection' | 'db' | 'names'>) {
    const { names } = base;
    this.#names = names;
    this.#details = new CompactWriter(names);
    this.#tables = {
      usage_hourly: statementsOf(base, 'usage_hourly'),
      usage_daily: statementsOf(base, 'usage_daily'),
    };
    this.#endUsers = new EndUserWriter(base);
    const { connection, db } = base;
    const folded = db.selectFrom('settings').select('value').where('name', '=', sql.lit(FOLDED));
    const setFolded = db.updateTable('settings').set({ value: '' }).where('name', '=', sql.lit(FOLDED));
    this.#folded = connection.prepare(folded.compile().sql);
    this.#setFolded = connection.prepare(setFolded.compile().sql);
    this.#hours = connection.prepare(rowsBehind(db, 'usage_hourly').compile().sql);
  }

  /** Inside a transaction, once for each record. */
  write(records: readonly CountedRecord[]): void {
    const sums = new CountedSums();
    sums.add(records);
    for (const part of sums.parts(1)) this.add(part);
  }

  /** Inside a transaction. */
  add({ hours, endUsers }: SumsPart): void {
    const folded = this.folded();
    const late = hours.filter(({ keys }) => !isBehind(keys, folded));
    for (const row of daysOf(late)) this.#add('usage_daily', row);
    for (const row of hours) this.#add('usage_hourly', row);
    this.#endUsers.add(endUsers);
  }

  /** The keys of the last row of an hour that is in its day. */
  folded(): readonly number[] {
    return JSON.parse(String(this.#folded.all()[0]?.['value'])) as number[];
  }

  /**
   * Adds rows of hours to those of their days, inside a transaction.
   * @param endHour hours from here on are left as they are: the first one of a day
   * @param most rows that are taken
   * @returns false when none is left
   */
  fold(endHour: number, most: number): boolean {
    const found = this.#hours.all(...this.folded(), endHour, most) as unknown as UsageTable[];
    const rows = found.map((row) => ({ keys: USAGE_KEYS.map((key) => row[key]), sums: this.sumsOf(row) }));
    for (const row of daysOf(rows)) this.#add('usage_daily', row);
    const last = rows.at(-1)?.keys;
    if (last) this.#setFolded.run(JSON.stringify(last));
    return rows.length === most;
  }

  /** Adds sums to the row of a day, inside a transaction. @param keys in the order of `USAGE_KEYS` */
  addToDay(keys: readonly number[], sums: UsageSums): void {
    this.#add('usage_daily', { keys, sums });
  }

  /** The sums of a row, to be read only: its counts are the row itself. */
  sumsOf(row: UsageTable): UsageSums {
    return { counts: row, details: this.#readDetails(row.details) };
  }

  #readDetails(bytes: Uint8Array): UsageDetails {
    return readDetails(new CompactReader(bytes, (number) => this.#names.textOf(number)));
  }

  /** A transaction may be tried twice: what is given stays as it is. */
  #together(details: UsageDetails, known: Uint8Array): UsageDetails {
    const together = this.#readDetails(known);
    addUsageDetails(together, details);
    return together;
  }

  #add(table: UsageTableName, { keys, sums: { counts, details } }: PeriodSums): void {
    const statements = this.#tables[table];
    const known = statements.details.all(...keys)[0]?.['details'];
    this.#details.reset();
    writeDetails(this.#details, known instanceof Uint8Array ? this.#together(details, known) : details);
    statements.add.run(...keys, ...USAGE_COUNTS.map((name) => counts[name]), this.#details.written());
  }
}

/** Whether a row comes after another, by its keys. */
function isBehind(keys: readonly number[], other: readonly number[]): boolean {
  const at = keys.findIndex((key, index) => key !== other[index]);
  return at >= 0 && (keys[at] ?? 0) > (other[at] ?? 0);
}

/** Rows of hours as rows of their days. */
function daysOf(hours: readonly PeriodSums[]): readonly PeriodSums[] {
  const days = new Map<string, PeriodSums>();
  for (const { keys, sums } of hours) {
    const [hour = 0, ...rest] = keys;
    const own = [Math.floor(hour / DAY_HOURS), ...rest];
    const name = own.join(' ');
    let day = days.get(name);
    if (!day) days.set(name, (day = { keys: own, sums: noUsageSums() }));
    addUsageSums(day.sums, sums);
  }
  return [...days.values()];
}

interface TableStatements {
  /** Binds the keys. */
  readonly details: SqlStatement;
  /** Binds the keys, the counts, and the details as they are from now on. */
  readonly add: SqlStatement;
}

function statementsOf(
  { connection, db }: Pick<SqliteBase, 'connection' | 'db'>,
  table: UsageTableName,
): TableStatements {
  let details = db.selectFrom(table).select('details');
  for (const key of USAGE_KEYS) details = details.where(key, '=', 0);
  return {
    details: connection.prepare(details.compile().sql),
    add: connection.prepare(addTo(db, table)),
  };
}

function addTo(db: Kysely<Schema>, table: UsageTableName): string {
  const columns = [...USAGE_KEYS, ...USAGE_COUNTS];
  const zeros = Object.fromEntries(columns.map((name) => [name, 0])) as Record<
    (typeof columns)[number],
    number
  >;
  return db
    .insertInto(table)
    .values({ ...zeros, details: new Uint8Array() })
    .onConflict((conflict) =>
      conflict.columns([...USAGE_KEYS]).doUpdateSet((eb) => ({
        ...Object.fromEntries(
          USAGE_COUNTS.map((name) => [name, eb(eb.ref(`${table}.${name}`), '+', eb.ref(`excluded.${name}`))]),
        ),
        details: eb.ref('excluded.details'),
      })),
    )
    .compile().sql;
}
