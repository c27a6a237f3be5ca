// Code shared by the stores of keys and projects: pages, changes, versions and limits.
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { GatewayError } from '../../canonical/index.ts';
import type { LimitEntry } from '../../accounts/limits/index.ts';
import type { PageRequest } from '../../accounts/ports/index.ts';
import { type Database, firstOf, rowsOf } from './database.ts';
import type { SharedJson } from './shared-json.ts';

/**
 * Reads one page of a query, in order of creation.
 * @param name name of the table
 * @throws GatewayError `invalid_request` for an unknown `after`
 */
export async function pageOf<Schema, Name extends keyof Schema, Row>(
  { ask }: Database,
  name: string,
  query: SelectQueryBuilder<Schema, Name, Row>,
  { after, limit, order }: PageRequest,
): Promise<{ readonly rows: readonly Row[]; readonly hasMore: boolean }> {
  let following = query;
  if (after !== undefined) {
    const place = await ask(() =>
      firstOf(
        sql<{ created_at: number; id: string }>`
          select created_at, id from ${sql.table(name)} where id = ${after}`,
      ),
    );
    if (!place)
      throw new GatewayError('invalid_request', `after: "${after.slice(0, 100)}" is not in this list`, {
        param: 'after',
      });
    const behind = sql.raw(order === 'asc' ? '>' : '<');
    following = query.where(sql<boolean>`(created_at, id) ${behind} (${place.created_at}, ${place.id})`);
  }
  const rows = await ask(() =>
    rowsOf(
      following
        .orderBy(sql`created_at`, order)
        .orderBy(sql`id`, order)
        .limit(limit + 1),
    ),
  );
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
}

/** Condition: a column contains a text. Case-insensitive by the rules of the database. */
export function contains(column: 'id' | 'name', text: string): RawBuilder<boolean> {
  const pattern = `%${text.replaceAll(/[%_\\]/g, String.raw`\$&`)}%`;
  return sql<boolean>`lower(${sql.ref(column)}) like lower(${pattern}) escape '\\'`;
}

/** Error for a change of an outdated version. */
export function otherVersion(what: string, id: string, expected: number): GatewayError {
  return new GatewayError(
    'conflict',
    `the ${what} ${id} has changed since version ${expected}: read it again, and change what is there now`,
    { code: 'version_conflict' },
  );
}

/** Removes undefined members, which would otherwise be written as null. */
export function present<Row extends object>(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined)) as Row;
}

const NO_ENTRIES: readonly LimitEntry[] = [];

export function encodeEntries(entries: readonly LimitEntry[]): string | null {
  return entries.length === 0 ? null : JSON.stringify(entries);
}

export function decodeEntries(text: string | null, json: SharedJson): readonly LimitEntry[] {
  return text === null ? NO_ENTRIES : (json.parse(text) as LimitEntry[]);
}
