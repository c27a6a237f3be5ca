// Reads rows of sums, some at a time, so that nobody waits for those who ask about years. Days that are over are read as
// such, all else by the hour.
import type { Kysely } from 'kysely';
import type { SqlStatement } from '../../../runtime/sqlite.ts';
import type { SqliteNames } from '../names.ts';
import type { Schema, UsageTable } from '../schema.ts';
import type { SqliteBase } from '../store.ts';
import { DAY_HOURS, type HourSpan } from '../../usage/hours.ts';
import { rowsBehind, USAGE_KEYS, type UsageTableName } from './usage-tables.ts';
import type { UsageWriter } from './usage-writer.ts';

/** Rows that are read in one go: about two milliseconds. */
const CHUNK = 500;

/** Numbers of names; a row passes where each of them has its own. */
export type NumberFilters = ReadonlyMap<Exclude<(typeof USAGE_KEYS)[number], 'period'>, ReadonlySet<number>>;

/** Rows, and what they are of. */
export interface UsageChunk {
  readonly rows: readonly UsageTable[];
  /** Hours that the period of a row is long. */
  readonly hours: number;
}

export class UsageReader {
  readonly #writer: UsageWriter;
  /** Bind the keys of the last row before, the period that ends it, and how many. */
  readonly #statements: Readonly<Record<UsageTableName, SqlStatement>>;
  /** Gives the earliest and the latest hour. */
  readonly #ends: SqlStatement;

  constructor({ connection, db }: Pick<SqliteBase, 'connection' | 'db'>, writer: UsageWriter) {
    this.#writer = writer;
    const prepare = (table: UsageTableName): SqlStatement =>
      connection.prepare(rowsBehind(db, table).compile().sql);
    this.#statements = { usage_hourly: prepare('usage_hourly'), usage_daily: prepare('usage_daily') };
    this.#ends = connection.prepare(endHours(db));
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
    const folded = Math.floor((this.#writer.folded()[0] ?? 0) / DAY_HOURS);
    const firstDay = Math.ceil(span.from / DAY_HOURS);
    const endDay = Math.min(Math.floor(span.to / DAY_HOURS), folded);
    if (byHour || firstDay >= endDay) return yield* this.#rows('usage_hourly', span.from, span.to, filters);
    yield* this.#rows('usage_hourly', span.from, firstDay * DAY_HOURS, filters);
    yield* this.#rows('usage_daily', firstDay, endDay, filters);
    yield* this.#rows('usage_hourly', endDay * DAY_HOURS, span.to, filters);
  }

  async *#rows(
    table: UsageTableName,
    from: number,
    to: number,
    filters: NumberFilters,
  ): AsyncGenerator<UsageChunk> {
    const hours = table === 'usage_daily' ? DAY_HOURS : 1;
    let last: readonly number[] = [from, ...USAGE_KEYS.slice(1).map(() => -1)];
    while (from < to) {
      const rows = this.#statements[table].all(...last, to, CHUNK) as unknown as UsageTable[];
      const passing = filters.size === 0 ? rows : rows.filter((row) => passes(row, filters));
      if (passing.length > 0) yield { rows: passing, hours };
      const end = rows.at(-1);
      if (rows.length < CHUNK || !end) return;
      last = USAGE_KEYS.map((key) => end[key]);
      await othersRun();
    }
  }
}

function passes(row: UsageTable, filters: NumberFilters): boolean {
  for (const [key, numbers] of filters) if (!numbers.has(row[key])) return false;
  return true;
}

/**
 * What names are as numbers, to be filtered by.
 * @param filters texts by key; undefined lets all through
 */
export function numberFilters(
  filters: {
    readonly [key in Exclude<(typeof USAGE_KEYS)[number], 'period'>]?: readonly string[] | undefined;
  },
  names: SqliteNames,
): NumberFilters {
  const numbers = new Map<Exclude<(typeof USAGE_KEYS)[number], 'period'>, ReadonlySet<number>>();
  for (const key of USAGE_KEYS) {
    const texts = key === 'period' ? undefined : filters[key];
    if (key === 'period' || !texts) continue;
    // What no record has was never given a number.
    numbers.set(key, new Set(texts.map((text) => names.knownNumber(text) ?? -1)));
  }
  return numbers;
}

/** Resolves when the event loop has seen to what is waiting. */
export function othersRun(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
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
