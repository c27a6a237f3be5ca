// Keys and projects: their stores share how one is found, listed, changed and followed.
import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { GatewayError, TEXTS } from '../../../canonical/index.ts';
import type { LimitEntry } from '../../../accounts/limits/index.ts';
import type { AuditOf, ChangeOf, PageRequest } from '../../../accounts/ports/index.ts';
import { AUDIT, audited } from './audit.ts';
import { greatestChange } from './change-numbers.ts';
import type { Database } from '../database.ts';
import type { SharedJson } from './shared-json.ts';

/** A table with the columns `id`, `created_at`, `updated_at`, `version` and `changed`. */
export interface TenantTable<Row, Thing> {
  readonly name: string;
  /** Name of a row in errors. */
  readonly what: string;
  readonly decode: (row: Row) => Thing;
}

export function tenantTable<Row extends object, Thing>(
  database: Database,
  { name, what, decode }: TenantTable<Row, Thing>,
) {
  const { read, readFirst, exclusively, on } = database;
  const table = sql.table(name);
  const byId = (id: string) => sql<Row>`select * from ${table} where id = ${id}`;

  async function find(id: string): Promise<Thing | null> {
    const row = await readFirst(byId(id));
    return row ? decode(row) : null;
  }

  return {
    find,
    /** Greatest change number. Read every second. */
    mark: greatestChange(database, name),
    /** Rows with a greater change number. */
    async changedSince(mark: number): Promise<readonly Thing[]> {
      return (await read(sql<Row>`select * from ${table} where changed > ${mark}`)).map(decode);
    },
    /**
     * Reads one page of a query, in order of creation.
     * @throws GatewayError `invalid_request` for an unknown `after`
     */
    async page<Schema, Of extends keyof Schema>(
      query: SelectQueryBuilder<Schema, Of, Row>,
      { after, limit, order }: PageRequest,
    ): Promise<{ readonly things: readonly Thing[]; readonly hasMore: boolean }> {
      let following = query;
      if (after !== undefined) {
        const place = await readFirst(
          sql<{ created_at: number; id: string }>`select created_at, id from ${table} where id = ${after}`,
        );
        if (!place)
          throw new GatewayError('invalid_request', `after: ${TEXTS.notInList(after)}`, {
            param: 'after',
          });
        const behind = sql.raw(order === 'asc' ? '>' : '<');
        following = query.where(sql<boolean>`(created_at, id) ${behind} (${place.created_at}, ${place.id})`);
      }
      const ordered = following.orderBy(sql`created_at`, order).orderBy(sql`id`, order);
      const rows = await read(ordered.limit(limit + 1));
      return { things: rows.slice(0, limit).map(decode), hasMore: rows.length > limit };
    },
    /**
     * Changes columns of a row and adds an audit entry, in one transaction.
     * @returns the changed object; null if it does not exist
     * @throws GatewayError `conflict` for another version
     */
    async update(
      id: string,
      columns: Readonly<Record<string, unknown>>,
      { atMs, ifVersion }: ChangeOf,
      auditOf: AuditOf<Thing>,
    ): Promise<Thing | null> {
      const values = Object.entries({ ...columns, updated_at: atMs });
      const isExpected = ifVersion === undefined ? sql`` : sql`and version = ${ifVersion}`;
      const change = sql<Row>`
        update ${table} set ${sql.join(values.map(([column, value]) => sql`${sql.ref(column)} = ${value}`))},
          version = version + 1
        where id = ${id} ${isExpected} returning *`;
      const changed = await exclusively(() => audited(on(AUDIT), byId(id), change, decode, auditOf));
      if (!changed && ifVersion !== undefined && (await find(id))) throw otherVersion(what, id, ifVersion);
      return changed;
    },
  };
}

/** Error for a change of an outdated version. */
function otherVersion(what: string, id: string, expected: number): GatewayError {
  return new GatewayError(
    'conflict',
    `The ${what} ${id} has changed since version ${expected}. Read it again and repeat the change.`,
    { code: 'version_conflict' },
  );
}

/** Condition: a column contains a text. Case-insensitive by the rules of the database. */
export function contains(column: 'id' | 'name', text: string): RawBuilder<boolean> {
  const pattern = `%${text.replaceAll(/[%_\\]/g, String.raw`\$&`)}%`;
  return sql<boolean>`lower(${sql.ref(column)}) like lower(${pattern}) escape '\\'`;
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
