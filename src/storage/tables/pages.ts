// Pages of lists in order of insertion.
import { type SelectQueryBuilder, sql } from 'kysely';
import { GatewayError } from '../../canonical/index.ts';
import type { PageRequest } from '../../accounts/ports/index.ts';
import { type Database, firstOf, type Queries, rowsOf } from './database.ts';

/** Number of a row, in order of insertion. */
const ROW = sql<number>`${sql.ref('row')}`;

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly hasMore: boolean;
}

/** Reads a page of a query. @param behind number of the last row of the previous page; absent: first page */
function* pageByRow<Schema, Name extends keyof Schema, Row>(
  query: SelectQueryBuilder<Schema, Name, Row>,
  { order, limit }: { readonly order: 'asc' | 'desc'; readonly limit: number },
  behind?: number,
): Queries<Page<Row>> {
  const sign = sql.raw(order === 'asc' ? '>' : '<');
  const following = behind === undefined ? query : query.where(sql<boolean>`${ROW} ${sign} ${behind}`);
  // Reads one more row, to know whether there are more.
  const rows = yield* rowsOf(following.orderBy(ROW, order).limit(limit + 1));
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
}

/**
 * Reads the page of a query after an entry.
 * @param what name of an entry in errors
 * @param find finds the entry with an id
 * @throws GatewayError `invalid_request` for an unknown entry
 */
export function* pageAfter<Schema, Name extends keyof Schema, Row>(
  query: SelectQueryBuilder<Schema, Name, Row>,
  { after, ...page }: PageRequest,
  what: string,
  find: (id: string) => Queries<{ readonly row: number } | undefined>,
): Queries<Page<Row>> {
  if (after === undefined) return yield* pageByRow(query, page);
  const place = yield* find(after);
  if (place) return yield* pageByRow(query, page, place.row);
  throw new GatewayError('invalid_request', `after: ${what} '${after.slice(0, 100)}' not found`, {
    param: 'after',
  });
}

/**
 * Reads a page of a log, newest first. Entries `after` another are older.
 * @param what name of an entry in errors
 * @throws GatewayError `invalid_request` for an unknown entry
 */
export function newestFirst<Schema, Name extends keyof Schema, Row>(
  { ask }: Pick<Database, 'ask'>,
  [table, what]: readonly [table: string, what: string],
  query: SelectQueryBuilder<Schema, Name, Row>,
  {
    limit,
    after,
    before,
  }: { readonly limit: number; readonly after?: string | undefined; readonly before?: string | undefined },
): Promise<Page<Row>> {
  function* rowOf(id: string | undefined, param: string): Queries<number | undefined> {
    if (id === undefined) return undefined;
    const found = yield* firstOf(
      sql<{ place: number }>`select ${ROW} as place from ${sql.table(table)} where id = ${id}`,
    );
    if (found) return found.place;
    throw new GatewayError('invalid_request', `${param}: ${what} not found`, { param });
  }
  return ask(function* () {
    const [newest, oldest] = [yield* rowOf(after, 'after'), yield* rowOf(before, 'before')];
    const within = newest === undefined ? query : query.where(sql<boolean>`${ROW} < ${newest}`);
    if (oldest === undefined) return yield* pageByRow(within, { order: 'desc', limit });
    const { rows, hasMore } = yield* pageByRow(within, { order: 'asc', limit }, oldest);
    return { rows: rows.toReversed(), hasMore };
  });
}
