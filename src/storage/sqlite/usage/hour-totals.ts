// Makes and reads the totals of hours that are over; see `storage/usage/hour-totals.ts`. Rows of an hour are read some at a
// time, without a transaction: a note that a change of them takes away says whether they are still what was read.
import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
import { noUsageDetails, noUsageSums, USAGE_COUNTS, type UsageSums } from '../../../usage/index.ts';
import type { SqlStatement } from '../../../runtime/sqlite.ts';
import { CompactReader } from '../../compact/reader.ts';
import { CompactWriter } from '../../compact/writer.ts';
import type { UsageDimension } from '../../ports.ts';
import { DRAFT, HourTotals, OF_ALL, totalledBefore, type TotalsRow } from '../../usage/hour-totals.ts';
import { readDetails, writeDetails } from '../../usage/usage-details.ts';
import type { HourTotalsTable, UsageTable } from '../schema.ts';
import type { SqliteBase } from '../store.ts';
import type { GroupedRows } from './usage-groups.ts';
import { rowsBehind, USAGE_KEYS } from './usage-tables.ts';
import type { UsageWriter } from './usage-writer.ts';

/** Rows of an hour that are added up in one step: about two milliseconds. */
const ROWS = 100;
/** Hours among which one without totals is looked for in one step. */
const HOURS = 500;
/** Names of drafts are any number below. */
const DRAFTS = 2 ** 47;

/** An hour whose rows are being added up. */
interface Draft {
  readonly hour: number;
  readonly name: number;
  readonly totals: HourTotals<number>;
  /** The keys of the last row that was added. */
  last: readonly number[];
}

/** What is asked of an hour. */
export interface TotalsQuery {
  readonly dimension: number;
  /** The numbers of names that pass; undefined: all. */
  readonly names: readonly number[] | undefined;
  /** The dimension, where it is grouped by it, as often as it is. */
  readonly groupBy: readonly UsageDimension[];
  readonly details: boolean;
}

export class SqliteHourTotals {
  readonly #names: SqliteBase['names'];
  readonly #commits: SqliteBase['commits'];
  readonly #writer: UsageWriter;
  readonly #details: CompactWriter;
  /** Binds the first hour and the one that ends it; gives the first one that has rows and no totals. */
  readonly #without: SqlStatement;
  /** Binds an hour; gives the first one from there on that has rows. */
  readonly #first: SqlStatement;
  /** Binds the keys of the last row before, the hour that ends it, and how many. */
  readonly #hours: SqlStatement;
  /** Binds hour and name of a draft. */
  readonly #draft: SqlStatement;
  /** Binds an hour. */
  readonly #delete: SqlStatement;
  /** Binds hour, dimension, name, the counts, and the details. */
  readonly #insert: SqlStatement;
  /** Binds hour and dimension. Gives the row of all, which is the mark, and those of the dimension. */
  readonly #all: SqlStatement;
  /** Binds hour, dimension, and the numbers of names as a JSON array. Gives the same. */
  readonly #some: SqlStatement;
  #drafted: Draft | null = null;
  /** Where the search for an hour without totals goes on. */
  #from = 0;

  constructor(
    { connection, db, names, commits }: Pick<SqliteBase, 'connection' | 'db' | 'names' | 'commits'>,
    writer: UsageWriter,
  ) {
    this.#names = names;
    this.#commits = commits;
    this.#writer = writer;
    this.#details = new CompactWriter(names);
    const prepare = (query: { compile(): { sql: string } }): SqlStatement =>
      connection.prepare(query.compile().sql);
    this.#without = connection.prepare(`
      with recursive hours(period) as (select ? union all select period + 1 from hours where period + 1 < ?)
      select period from hours
      where exists (select 1 from usage_hourly u where u.period = hours.period)
        and not exists (select 1 from usage_hour_totals t where t.period = hours.period and t.dimension = ${OF_ALL})
      limit 1`);
    const first = db.selectFrom('usage_hourly').select((eb) => eb.fn.min('period').as('first'));
    this.#first = prepare(first.where('period', '>=', 0));
    this.#hours = prepare(rowsBehind(db, 'usage_hourly'));
    const ofHour = db.selectFrom('usage_hour_totals').where('period', '=', 0);
    this.#draft = prepare(
      ofHour.select('period').where('dimension', '=', sql.lit(DRAFT)).where('name', '=', 0),
    );
    this.#delete = prepare(db.deleteFrom('usage_hour_totals').where('period', '=', 0));
    const numbers = ['period', 'dimension', 'name', ...USAGE_COUNTS] as const;
    const zeros = Object.fromEntries(numbers.map((name) => [name, 0])) as Omit<HourTotalsTable, 'details'>;
    this.#insert = prepare(
      db.insertInto('usage_hour_totals').values({ ...zeros, details: new Uint8Array() }),
    );
    const isMark = sql<boolean>`dimension = ${sql.lit(OF_ALL)}`;
    const isAsked = sql<boolean>`dimension = ${0}`;
    this.#all = prepare(ofHour.selectAll().where((eb) => eb.or([isMark, isAsked])));
    const isOfThem = sql<boolean>`name in (select value from json_each(${''}))`;
    this.#some = prepare(ofHour.selectAll().where((eb) => eb.or([isMark, eb.and([isAsked, isOfThem])])));
  }

  /** @returns what an hour came to by a dimension; null where it has no totals */
  read(hour: number, { dimension, names, groupBy, details }: TotalsQuery): readonly GroupedRows[] | null {
    const rows = (names
      ? this.#some.all(hour, dimension, JSON.stringify(names))
      : this.#all.all(hour, dimension)) as unknown as HourTotalsTable[];
    if (!rows.some((row) => row.dimension === OF_ALL)) return null;
    return rows
      .filter((row) => row.dimension === dimension)
      .map((row) => ({
        period: hour,
        group: groupBy.map(() => row.name),
        counts: row,
        details: details
          ? readDetails(new CompactReader(row.details, (number) => this.#names.textOf(number)))
          : noUsageDetails(),
      }));
  }

  /** The first hour from one on that has rows; infinite where there is none. */
  hourFrom(hour: number): number {
    return Number(this.#first.all(hour)[0]?.['first'] ?? Infinity);
  }

  /**
   * A small step towards totals of all hours that are over.
   * @returns false when nothing was left to do
   */
  async step(nowMs: number): Promise<boolean> {
    if (this.#drafted) await this.#goOn(this.#drafted);
    else {
      const end = totalledBefore(nowMs);
      this.#from = this.hourFrom(this.#from);
      if (this.#from >= end) {
        // Hours that changed since are found by the next search.
        this.#from = 0;
        return false;
      }
      const upTo = Math.min(this.#from + HOURS, end);
      const hour = this.#without.all(this.#from, upTo)[0]?.['period'];
      this.#from = typeof hour === 'number' ? hour : upTo;
      if (typeof hour === 'number') await this.#begin(hour);
    }
    return true;
  }

  async #begin(hour: number): Promise<void> {
    const name = randomInt(DRAFTS);
    await this.#commits.run(() => this.#write(hour, { dimension: DRAFT, name, sums: noUsageSums() }));
    const last = [hour, ...USAGE_KEYS.slice(1).map(() => -1)];
    this.#drafted = { hour, name, totals: new HourTotals(0), last };
  }

  async #goOn(draft: Draft): Promise<void> {
    const { hour, name, totals, last } = draft;
    const rows = this.#hours.all(...last, hour + 1, ROWS) as unknown as UsageTable[];
    for (const row of rows) totals.add(this.#writer.sumsOf(row), (dimension) => row[dimension]);
    const end = rows.at(-1);
    if (end) draft.last = USAGE_KEYS.map((key) => end[key]);
    if (rows.length === ROWS) return;
    this.#drafted = null;
    await this.#commits.run(() => {
      // Some of it has changed, or another process was faster.
      if (this.#draft.all(hour, name).length === 0) return;
      this.#delete.run(hour);
      for (const row of totals.rows()) this.#write(hour, row);
    });
  }

  #write(hour: number, { dimension, name, sums }: TotalsRow<number>): void {
    this.#insert.run(
      hour,
      dimension,
      name,
      ...USAGE_COUNTS.map((count) => sums.counts[count]),
      this.#detailsOf(sums),
    );
  }

  #detailsOf({ details }: UsageSums): Uint8Array {
    this.#details.reset();
    writeDetails(this.#details, details);
    return this.#details.written();
  }
}
