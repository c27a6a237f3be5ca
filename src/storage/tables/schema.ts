// Makes the tables of a database, and brings those of an earlier program up to date. The database stores the version of its
// schema and the oldest program that may use it. Version 1 is the first; data of before it is refused.
import { type Kysely, sql } from 'kysely';
import { GatewayError } from '../../canonical/index.ts';
import { addColumns, type Kind, latestOf, makeTable, table, type TableDeclaration } from './table.ts';
import type { UnixMs } from '../../base/units.ts';

/** Version of this program, as of package.json. */
export const PROGRAM = '0.1.0';

/** A change of tables that were made in an earlier version. */
export interface SchemaChange {
  /** Schema version that it leads to, above 1. */
  readonly version: number;
  /**
   * The oldest program that may use the database afterwards. Absent: every program goes on, because it still reads and writes
   * all that it knows (a new table, or a column that may be empty). In PostgreSQL the previous minor version must go on.
   */
  readonly oldestProgram?: string;
  /** Statements of each database. */
  readonly up: Partial<Record<Kind, readonly string[]>>;
}

/** Tables of a database, and their changes since its first schema version. */
export interface SchemaParts {
  readonly tables: readonly TableDeclaration[];
  readonly changes?: readonly SchemaChange[] | undefined;
}

const VERSIONS = table({
  name: 'schema_version',
  columns: {
    version: 'small',
    /** As of package.json. */
    oldest_program: 'text',
    /** Unix milliseconds. */
    applied_at: 'number',
  },
  key: ['version'],
  isLocal: true,
});

/** The version of a schema that has these tables and changes. */
export function versionOf({ tables, changes = [] }: SchemaParts): number {
  return Math.max(1, ...tables.map(latestOf), ...changes.map(({ version }) => version));
}

export interface Place {
  readonly db: Kysely<never>;
  readonly kind: Kind;
  /** Names the database in errors, e.g. its path. */
  readonly name: string;
  /** Unix milliseconds, recorded with each version. */
  readonly nowMs: UnixMs;
}

/**
 * Brings a database up to date. Call it inside a transaction that holds a lock: two processes may start at once on the same
 * empty database.
 * @param program version of this program
 * @throws GatewayError `internal` for a database of a newer program that this one may not use, and for one of before version 1
 */
export async function bringUpToDate(
  place: Place,
  { tables, changes = [] }: SchemaParts,
  program: string = PROGRAM,
): Promise<void> {
  const { db, kind, name, nowMs } = place;
  const own = unique(tables).filter(({ only }) => only === undefined || only === kind);
  const current = versionOf({ tables: own, changes });
  const before = await storedVersion(place);
  if (before === null) await makeTable(db, kind, VERSIONS);
  else if (isOlder(program, before.oldest_program))
    throw new GatewayError(
      'internal',
      `${name} has the form of Dragoman ${before.oldest_program} or newer, and this is Dragoman ${program}: install ${before.oldest_program} or newer, or start with another database.`,
    );
  const from = before?.version ?? 0;
  if (from >= current) return;
  for (const declared of own)
    if ((declared.since ?? 1) > from) await makeTable(db, kind, declared);
    else await addColumns(db, kind, declared, from);
  let oldest = before?.oldest_program ?? PROGRAM_OF_VERSION_1;
  for (const { version, oldestProgram, up } of changes.toSorted((a, b) => a.version - b.version)) {
    if (version <= from) continue;
    for (const statement of up[kind] ?? []) await sql.raw(statement).execute(db);
    if (oldestProgram !== undefined && isOlder(oldest, oldestProgram)) oldest = oldestProgram;
  }
  await sql`insert into schema_version (version, oldest_program, applied_at)
    values (${current}, ${oldest}, ${nowMs})`.execute(db);
}

/** The first program that knew version 1. */
const PROGRAM_OF_VERSION_1 = '0.1.0';

interface VersionRow {
  readonly version: number;
  readonly oldest_program: string;
}

/** @returns null for an empty database */
async function storedVersion({ db, kind, name }: Place): Promise<VersionRow | null> {
  const isThere = async (of: string): Promise<boolean> => {
    const found =
      kind === 'sqlite'
        ? sql`select 1 from sqlite_master where type = 'table' and name = ${of}`
        : sql`select 1 from pg_catalog.pg_class as c
            join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
            where c.relname = ${of} and n.nspname = current_schema`;
    return (await found.execute(db)).rows.length > 0;
  };
  if (await isThere(VERSIONS.name)) {
    const { rows } = await sql<VersionRow>`
      select version, oldest_program from schema_version order by version desc limit 1`.execute(db);
    return rows[0] ?? null;
  }
  if (await isThere('schema_migrations'))
    throw new GatewayError(
      'internal',
      `${name} was written by a Dragoman of before the first release, whose data no release can read: start with an empty data directory or database, and make keys and projects anew.`,
    );
  return null;
}

/** Compares versions like `1.2.3`; what follows a hyphen does not count. */
function isOlder(one: string, other: string): boolean {
  const numbers = (version: string): readonly number[] =>
    (version.split('-')[0] ?? '').split('.').map(Number);
  const [a, b] = [numbers(one), numbers(other)];
  const at = b.findIndex((number, index) => number !== (a[index] ?? 0));
  return at >= 0 && (a[at] ?? 0) < (b[at] ?? 0);
}

/** Stores name the tables that they use, some of them the same. */
function unique(tables: readonly TableDeclaration[]): readonly TableDeclaration[] {
  return [...new Map(tables.map((declared) => [declared.name, declared])).values()];
}
