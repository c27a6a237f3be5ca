// Rows of sums, added up by SQLite for a report: a bounded number of rows at a time, so that nobody waits for who asks about
// months. What sums count by name or bucket comes along and is added up here.
import { type Kysely, sql } from 'kysely';
import {
  noUsageDetails,
  type UsageCounts,
  type UsageDetails,
  type WantedSums,
} from '../../../usage/index.ts';
import type { SqlConnection, SqlStatement, SqlValue } from '../../../runtime/sqlite.ts';
import { CompactReader } from '../../compact/reader.ts';
import type { UsageDimension } from '../../ports.ts';
import { addDetails } from '../../usage/usage-details.ts';
import type { SqliteNames } from '../names.ts';
import type { Schema } from '../schema.ts';
import type { SqliteBase } from '../store.ts';
import { USAGE_KEYS, type UsageTableName } from './usage-tables.ts';

/** Rows that are added up in one go: about three milliseconds. */
const ROWS = 2_000;
/** Kinds of questions whose statements are kept: whoever asks chooses what is grouped, filtered and wanted. */
const MOST_STATEMENTS = 100;
/** Between the details of rows, which are hexadecimal digits. */
const NEXT = ',';

/** Numbers of names; a row passes where each of them has its own. */
export type NumberFilters = ReadonlyMap<UsageFilter, ReadonlySet<number>>;

export type UsageFilter = Exclude<(typeof USAGE_KEYS)[number], 'period'>;

/** Some rows of one group, added up. */
export interface GroupedRows {
  /** Of the rows; null where all of the time goes together. */
  readonly period: number | null;
  /** Numbers of names, in the order of what it is grouped by; 0: none. */
  readonly group: readonly number[];
  /** Those that are wanted. */
  readonly counts: Partial<UsageCounts>;
  /** Empty where they are not wanted. */
  readonly details: UsageDetails;
}

interface Statements {
  /** Binds the keys of the last row before, and the period that ends all. Gives the keys of the last row of a step. */
  readonly last: SqlStatement;
  /** Binds the keys of the last row before, those of the last row of the step, the period, and the filters. */
  readonly groups: SqlStatement;
}

/** What is asked for; its periods are of the table. */
export interface GroupsQuery {
  readonly table: UsageTableName;
  readonly from: number;
  readonly to: number;
  readonly filters: NumberFilters;
  readonly groupBy: readonly UsageDimension[];
  readonly wanted: WantedSums;
  /** False: all of the time goes together. */
  readonly byPeriod: boolean;
}

export class UsageGroups {
  readonly #connection: SqlConnection;
  readonly #db: Kysely<Schema>;
  readonly #names: SqliteNames;
  /** By what is asked. */
  readonly #statements = new Map<string, Statements>();

  constructor({ connection, db, names }: Pick<SqliteBase, 'connection' | 'db' | 'names'>) {
    this.#connection = connection;
    this.#db = db;
    this.#names = names;
  }

  /** One step after another. Of one group there may be several in each. */
  *read(query: GroupsQuery): Generator<readonly GroupedRows[]> {
    const { from, to, filters, groupBy, byPeriod, wanted } = query;
    const { last, groups } = this.#prepared(query);
    const lists = [...filters.values()].map((numbers) => JSON.stringify([...numbers]));
    let before: readonly SqlValue[] = [from, ...USAGE_KEYS.slice(1).map(() => -1)];
    while (from < to) {
      const end = last.all(...before, to)[0];
      // Behind all rows of the time.
      const upTo = end
        ? USAGE_KEYS.map((key) => end[key] as number)
        : [to, ...USAGE_KEYS.slice(1).map(() => 0)];
      const rows = groups.all(...before, ...upTo, to, ...lists);
      yield rows.map((row) => ({
        period: byPeriod ? (row['period'] as number) : null,
        group: groupBy.map((name) => row[name] as number),
        counts: row as Partial<UsageCounts>,
        details: wanted.details ? this.#addedUp(String(row['all_details'])) : noUsageDetails(),
      }));
      if (!end) return;
      before = upTo;
    }
  }

  #addedUp(list: string): UsageDetails {
    const sum = noUsageDetails();
    const bytes = Buffer.from(list.replaceAll(NEXT, ''), 'hex');
    // One for all of them: to make one for each takes longer than what it reads.
    const reader = new CompactReader(bytes, (number) => this.#names.textOf(number));
    let read = 0;
    for (let start = 0; start <= list.length;) {
      const next = list.indexOf(NEXT, start);
      const end = next < 0 ? list.length : next;
      read += (end - start) / 2;
      addDetails(sum, reader);
      reader.passTo(read);
      start = end + NEXT.length;
    }
    return sum;
  }

  #prepared(query: GroupsQuery): Statements {
    const { table, filters, groupBy, byPeriod, wanted } = query;
    const name = JSON.stringify([table, [...filters.keys()], groupBy, byPeriod, wanted]);
    let statements = this.#statements.get(name);
    if (!statements) {
      if (this.#statements.size >= MOST_STATEMENTS) this.#statements.clear();
      this.#statements.set(name, (statements = this.#prepare(query)));
    }
    return statements;
  }

  #prepare({ table, filters, groupBy, byPeriod, wanted }: GroupsQuery): Statements {
    const keys = sql.join(USAGE_KEYS.map((key) => sql.ref(key)));
    const bound = sql.join(USAGE_KEYS.map(() => 0));
    const behind = sql<boolean>`(${keys}) > (${bound})`;
    let last = this.#db.selectFrom(table).select(USAGE_KEYS).where(behind).where('period', '<', 0);
    for (const key of USAGE_KEYS) last = last.orderBy(key);
    const by = [...(byPeriod ? (['period'] as const) : []), ...groupBy];
    const groups = this.#db
      .selectFrom(table)
      .select(by)
      .select(wanted.counts.map((count) => sql<number>`sum(${sql.ref(count)})`.as(count)))
      .$if(wanted.details, (query) =>
        query.select(sql<string>`group_concat(hex(details), ${sql.lit(NEXT)})`.as('all_details')),
      )
      .where(behind)
      .where(sql<boolean>`(${keys}) <= (${bound})`)
      .where('period', '<', 0)
      .where((eb) =>
        eb.and(
          [...filters.keys()].map((key) => eb(key, 'in', sql<number>`(select value from json_each(${''}))`)),
        ),
      );
    return {
      last: this.#connection.prepare(
        last
          .limit(sql.lit(1))
          .offset(sql.lit(ROWS - 1))
          .compile().sql,
      ),
      groups: this.#connection.prepare(
        (by.length > 0 ? groups.groupBy(by) : groups.having(sql<boolean>`count(*) > 0`)).compile().sql,
      ),
    };
  }
}
