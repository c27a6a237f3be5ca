// Reads rows of sums, some at a time, so that nobody waits for those who ask about years. Days that are over are read as
// such, all else by the hour.
import { type Kysely, sql } from 'kysely';
import type { SqlStatement, SqlValue } from '../../../runtime/sqlite.ts';
import type { SqliteNames } from '../names.ts';
import type { Schema, UsageTable } from '../schema.ts';
import type { SqliteBase } from '../store.ts';
import { othersRun } from '../../others-run.ts';
import { DAY_HOURS, type HourSpan } from '../../usage/hours.ts';
import {
  type GroupedRows,
  type GroupsQuery,
  type NumberFilters,
  type UsageFilter,
  UsageGroups,
} from './usage-groups.ts';
import { rowsBehind, USAGE_KEYS, type UsageTableName } from './usage-tables.ts';
import type { UsageWriter } from './usage-writer.ts';

/** Rows that are read in one go: about two milliseconds. */
const CHUNK = 500;
/** Hours of which SQLite looks through the rows in one go. */
const STEP_HOURS = 24;
/** Keys by which it is worth while to narrow what is read of an hour. */
const MOST_KEYS = 500;
const HOURS_OF: Readonly<Record<UsageTableName, number>> = { usage_hourly: 1, usage_daily: DAY_HOURS };

/** What a row must have at least, so that one of its requests may be what is looked for. */
export interface Least {
  /** One that failed, or was cancelled: whichever of them is asked for. */
  readonly failed: boolean;
  readonly cancelled: boolean;
  readonly nanoUsd: number;
}

/** A period of which a row passes. */
export interface PassingPeriod extends HourSpan {
  /** Numbers of the keys of those rows, where it is an hour of a few: what passes is a record of one of them. Absent: of any. */
  readonly keys?: readonly number[] | undefined;
}

/** Rows, and what they are of. */
export interface UsageChunk {
  readonly rows: readonly UsageTable[];
  /** Hours that the period of a row is long. */
  readonly hours: number;
}

export class UsageReader {
  readonly #base: Pick<SqliteBase, 'connection' | 'db'>;
  /** Statements by their text: those of one kind of question. */
  readonly #asked = new Map<string, SqlStatement>();
  readonly #groups: UsageGroups;
  readonly #writer: UsageWriter;
  /**
   * By table and what is filtered by, made when they are needed. They bind the keys of the last row before, the period that
   * ends it, the numbers of each filter as a JSON array, and how many.
   */
  readonly #statements = new Map<string, SqlStatement>();
  /** Bind a period; give the first one from there on. */
  readonly #periods: Readonly<Record<UsageTableName, SqlStatement>>;
  /** Gives the earliest and the latest hour. */
  readonly #ends: SqlStatement;

  constructor(base: Pick<SqliteBase, 'connection' | 'db' | 'names'>, writer: UsageWriter) {
    this.#base = base;
    this.#groups = new UsageGroups(base);
    this.#writer = writer;
    const firstFrom = (table: UsageTableName): SqlStatement => {
      const first = base.db.selectFrom(table).select((eb) => eb.fn.min('period').as('first'));
      return base.connection.prepare(first.where('period', '>=', 0).compile().sql);
    };
    this.#periods = { usage_hourly: firstFrom('usage_hourly'), usage_daily: firstFrom('usage_daily') };
    this.#ends = base.connection.prepare(endHours(base.db));
  }

  /** The first and the last hour that have a row; null where there are none. */
  hours(): HourSpan | null {
    const { first, last } = this.#ends.all()[0] as unknown as Record<'first' | 'last', number | null>;
    return first === null || last === null ? null : { from: first, to: last + 1 };
  }

  /**
   * Rows of hours, or of days where whole ones lie in the span. Lets others run between the chunks.
   * @param byHour true: of hours alone
   */
  async *read(span: HourSpan, filters: NumberFilters, byHour: boolean): AsyncGenerator<UsageChunk> {
    for (const [table, from, to] of this.#tables(span, byHour)) yield* this.#rows(table, from, to, filters);
  }

  /**
   * The rows of a span, added up. Lets others run between the steps.
   * @param byHour true: of hours alone
   */
  async *groups(
    span: HourSpan,
    query: Pick<GroupsQuery, 'filters' | 'groupBy' | 'byPeriod' | 'wanted'>,
    byHour: boolean,
  ): AsyncGenerator<{ readonly rows: readonly GroupedRows[]; readonly hours: number }> {
    for (const [table, from, to] of this.#tables(span, byHour))
      for (const rows of this.#groups.read({ ...query, table, from, to })) {
        yield { rows, hours: HOURS_OF[table] };
        await othersRun();
      }
  }

  /**
   * Periods of a span of which a row passes, the first one first. Lets others run meanwhile.
   * @param byHour true: hours alone
   */
  async periods(
    span: HourSpan,
    filters: NumberFilters,
    least: Least,
    byHour: boolean,
  ): Promise<readonly PassingPeriod[]> {
    const found: PassingPeriod[] = [];
    for (const [table, from, to] of this.#tables(span, byHour)) {
      const hours = HOURS_OF[table];
      const { statement, values } = this.#passing(table, filters, least);
      for (let start = from; start < to; start += STEP_HOURS / hours) {
        const rows = statement.all(start, Math.min(start + STEP_HOURS / hours, to), ...values);
        for (const { period, keys: list } of rows as { period: number; keys?: string }[]) {
          const keys = list === undefined ? undefined : (JSON.parse(list) as number[]);
          const isShort = keys !== undefined && keys.length <= MOST_KEYS;
          found.push({
            from: period * hours,
            to: (period + 1) * hours,
            keys: isShort ? keys : undefined,
          });
        }
        await othersRun();
      }
    }
    return found;
  }

  /** The parts of a span, each with the table that has it. */
  #tables(span: HourSpan, byHour: boolean): readonly (readonly [UsageTableName, number, number])[] {
    const folded = Math.floor((this.#writer.folded()[0] ?? 0) / DAY_HOURS);
    const firstDay = Math.ceil(span.from / DAY_HOURS);
    const endDay = Math.min(Math.floor(span.to / DAY_HOURS), folded);
    if (byHour || firstDay >= endDay) return [['usage_hourly', span.from, span.to]];
    return [
      ['usage_hourly', span.from, firstDay * DAY_HOURS],
      ['usage_daily', firstDay, endDay],
      ['usage_hourly', endDay * DAY_HOURS, span.to],
    ];
  }

  /** A statement that binds two periods and its values. */
  #passing(
    table: UsageTableName,
    filters: NumberFilters,
    { failed, cancelled, nanoUsd }: Least,
  ): { readonly statement: SqlStatement; readonly values: readonly SqlValue[] } {
    let periods = this.#base.db
      .selectFrom(table)
      .select('period')
      .where('period', '>=', 0)
      .where('period', '<', 0)
      .groupBy('period')
      .orderBy('period');
    if (table === 'usage_hourly')
      periods = periods.select(sql<string>`json_group_array(distinct ${sql.ref('key')})`.as('keys'));
    for (const key of filters.keys())
      periods = periods.where(key, 'in', sql<number>`(select value from json_each(${''}))`);
    if (failed || cancelled)
      periods = periods.where((eb) =>
        eb.or([
          ...(failed ? [eb('errors', '>', sql.lit(0))] : []),
          ...(cancelled ? [eb('cancelled', '>', sql.lit(0))] : []),
        ]),
      );
    if (nanoUsd > 0) periods = periods.where('nano_usd', '>=', 0);
    const text = periods.compile().sql;
    let statement = this.#asked.get(text);
    if (!statement) this.#asked.set(text, (statement = this.#base.connection.prepare(text)));
    const lists = [...filters.values()].map((numbers) => JSON.stringify([...numbers]));
    return { statement, values: nanoUsd > 0 ? [...lists, nanoUsd] : lists };
  }

  async *#rows(
    table: UsageTableName,
    from: number,
    to: number,
    filters: NumberFilters,
  ): AsyncGenerator<UsageChunk> {
    if (filters.size === 0) return yield* this.#chunks(table, from, to, filters);
    // One after the other: the database passes over rows of others by itself, and may do so for long.
    for (
      let period = this.#periodFrom(table, from);
      period < to;
      period = this.#periodFrom(table, period + 1)
    ) {
      yield* this.#chunks(table, period, period + 1, filters);
      await othersRun();
    }
  }

  async *#chunks(
    table: UsageTableName,
    from: number,
    to: number,
    filters: NumberFilters,
  ): AsyncGenerator<UsageChunk> {
    const hours = HOURS_OF[table];
    const statement = this.#statement(table, [...filters.keys()]);
    const passing = Array.from(filters.values(), (numbers) => JSON.stringify([...numbers]));
    let last: readonly number[] = [from, ...USAGE_KEYS.slice(1).map(() => -1)];
    while (from < to) {
      const rows = statement.all(...last, to, ...passing, CHUNK) as unknown as UsageTable[];
      if (rows.length > 0) yield { rows, hours };
      const end = rows.at(-1);
      if (rows.length < CHUNK || !end) return;
      last = USAGE_KEYS.map((key) => end[key]);
      await othersRun();
    }
  }

  /** The first period from one on that has rows; infinite where there is none. */
  #periodFrom(table: UsageTableName, period: number): number {
    return Number(this.#periods[table].all(period)[0]?.['first'] ?? Infinity);
  }

  #statement(table: UsageTableName, filtered: readonly UsageFilter[]): SqlStatement {
    const name = `${table} ${filtered.join(' ')}`;
    let statement = this.#statements.get(name);
    if (!statement) {
      let rows = rowsBehind(this.#base.db, table);
      for (const key of filtered)
        rows = rows.where(key, 'in', sql<number>`(select value from json_each(${''}))`);
      this.#statements.set(name, (statement = this.#base.connection.prepare(rows.compile().sql)));
    }
    return statement;
  }
}

/**
 * What names are as numbers, to be filtered by.
 * @param filters texts by key; undefined lets all through
 */
export function numberFilters(
  filters: {
    readonly [key in UsageFilter]?: readonly string[] | undefined;
  },
  names: SqliteNames,
): NumberFilters {
  const numbers = new Map<UsageFilter, ReadonlySet<number>>();
  for (const key of USAGE_KEYS) {
    const texts = key === 'period' ? undefined : filters[key];
    if (key === 'period' || !texts) continue;
    // What no record has was never given a number.
    numbers.set(key, new Set(texts.map((text) => (text === '' ? 0 : (names.knownNumber(text) ?? -1)))));
  }
  return numbers;
}

function endHours(db: Kysely<Schema>): string {
  return db
    .selectNoFrom((eb) => [
      // Two questions, of which each takes one step along the index.
      eb
        .selectFrom('usage_hourly')
        .select((e) => e.fn.min('period').as('first'))
        .as('first'),
      eb
        .selectFrom('usage_hourly')
        .select((e) => e.fn.max('period').as('last'))
        .as('last'),
    ])
    .compile().sql;
}
