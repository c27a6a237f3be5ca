// What lists and changes of keys and of projects have in common.
import { type Kysely, type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { GatewayError } from '../../canonical/index.ts';
import type { PageRequest } from '../ports.ts';
import type { StateSchema } from './tables.ts';

type Table = 'keys' | 'projects';

/**
 * One page of a query, in the order of the rows' making.
 * @throws GatewayError `invalid_request` for an unknown `after`
 */
export async function pageOf<Row>(
  db: Kysely<StateSchema>,
  table: Table,
  query: SelectQueryBuilder<StateSchema, Table, Row>,
  { after, limit, order }: PageRequest,
): Promise<{ readonly rows: readonly Row[]; readonly hasMore: boolean }> {
  let following = query;
  if (after !== undefined) {
    const place = await db
      .selectFrom(table)
      .select(['created_at', 'id'])
      .where('id', '=', after)
      .executeTakeFirst();
    if (!place)
      throw new GatewayError('invalid_request', `after: "${after.slice(0, 100)}" is not in this list`, {
        param: 'after',
      });
    following = query.where((eb) =>
      eb(eb.refTuple('created_at', 'id'), order === 'asc' ? '>' : '<', eb.tuple(place.created_at, place.id)),
    );
  }
  const rows = await following
    .orderBy('created_at', order)
    .orderBy('id', order)
    .limit(limit + 1)
    .execute();
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
}

/** Rows whose column contains a text, in small letters or capitals: what these are is the database's to say. */
export function contains(column: 'id' | 'name', text: string): RawBuilder<boolean> {
  const pattern = `%${text.replaceAll(/[%_\\]/g, String.raw`\$&`)}%`;
  return sql<boolean>`lower(${sql.ref(column)}) like lower(${pattern}) escape '\\'`;
}

/** What a change of another version than the one that is there gets. */
export function otherVersion(what: string, id: string, expected: number): GatewayError {
  return new GatewayError(
    'conflict',
    `the ${what} ${id} has changed since version ${expected}: read it again, and change what is there now`,
    { code: 'version_conflict' },
  );
}
