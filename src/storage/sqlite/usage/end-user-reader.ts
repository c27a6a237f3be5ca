// Reads the sums of end users, some rows at a time.
import { sql } from 'kysely';
import type { SqlStatement } from '../../../runtime/sqlite.ts';
import type { EndUserUsageTable } from '../schema.ts';
import type { SqliteBase } from '../store.ts';
import type { HourSpan } from '../../usage/hours.ts';
import type { NumberFilters } from './usage-groups.ts';
import { MOST_ROWS, OTHER_END_USERS } from './end-user-writer.ts';
import { othersRun } from '../../others-run.ts';

/** Rows that are read in one go: about a millisecond. */
const CHUNK = 500;
/** Hours in which end users are looked for in one go. */
const HOURS = 6;
/** What they are kept by, in the order of their rows. */
export const END_USER_KEYS = ['period', 'project', 'end_user', 'key', 'model'] as const;

export class EndUserReader {
  /** Binds the keys of the last row before, the hour that ends it, and how many. */
  readonly #rows: SqlStatement;
  /** Binds two hours, hashes as a JSON array, the same hours, for how many rows an hour has room, and who stands for all others. */
  readonly #places: SqlStatement;

  constructor({ connection, db }: Pick<SqliteBase, 'connection' | 'db'>) {
    const keys = sql.join(END_USER_KEYS.map((key) => sql.ref(key)));
    const bound = sql.join(END_USER_KEYS.map(() => 0));
    let rows = db
      .selectFrom('usage_end_users')
      .selectAll()
      .where(sql<boolean>`(${keys}) > (${bound})`)
      .where('period', '<', 0);
    for (const key of END_USER_KEYS) rows = rows.orderBy(key);
    this.#rows = connection.prepare(rows.limit(1).compile().sql);
    const rowsOf = db
      .selectFrom('usage_end_user_rows as of')
      .crossJoin('usage_end_users as u')
      .select(['u.period', 'u.key'])
      .where('of.period', '>=', 0)
      .where('of.period', '<', 0)
      .whereRef('u.period', '=', 'of.period')
      .whereRef('u.project', '=', 'of.project');
    const theirs = rowsOf.where(
      'u.end_user',
      'in',
      sql<Uint8Array>`(select unhex(value) from json_each(${''}))`,
    );
    // Only where there was no room: to look for them everywhere would take as long as for those who are asked for.
    const others = rowsOf.where('of.rows', '>=', 0).where('u.end_user', '=', OTHER_END_USERS);
    this.#places = connection.prepare(theirs.unionAll(others).compile().sql);
  }

  /**
   * In which hours some end users may have been there, and with which keys: they were, or there was no room for all. Asks for
   * each project of an hour: an hour may have many thousands of end users.
   * @param hashes hexadecimal
   * @returns numbers of keys by hour, in no order
   */
  async places(span: HourSpan, hashes: readonly string[]): Promise<ReadonlyMap<number, ReadonlySet<number>>> {
    const places = new Map<number, Set<number>>();
    const wanted = JSON.stringify(hashes);
    for (let from = span.from; from < span.to; from += HOURS) {
      const to = Math.min(from + HOURS, span.to);
      for (const row of this.#places.all(from, to, wanted, from, to, MOST_ROWS, OTHER_END_USERS)) {
        const { period, key } = row as { period: number; key: number };
        let keys = places.get(period);
        if (!keys) places.set(period, (keys = new Set()));
        keys.add(key);
      }
      await othersRun();
    }
    return places;
  }

  async *read(span: HourSpan, filters: NumberFilters): AsyncGenerator<readonly EndUserUsageTable[]> {
    let last: readonly (number | Uint8Array)[] = [span.from, -1, new Uint8Array(), -1, -1];
    while (span.from < span.to) {
      const rows = this.#rows.all(...last, span.to, CHUNK) as unknown as EndUserUsageTable[];
      const passing = rows.filter((row) => passes(row, filters));
      if (passing.length > 0) yield passing;
      const end = rows.at(-1);
      if (rows.length < CHUNK || !end) return;
      last = END_USER_KEYS.map((key) => end[key]);
      await othersRun();
    }
  }
}

function passes(row: EndUserUsageTable, filters: NumberFilters): boolean {
  for (const [key, numbers] of filters)
    if (key === 'project' || key === 'key' || key === 'model') {
      if (!numbers.has(row[key])) return false;
    }
  return true;
}
