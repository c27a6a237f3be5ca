// Creates the tables of a database, and migrates those of earlier programs. The database stores its schema version and the
// oldest program that may use it. Data from before version 1 is refused.
import { sql } from 'kysely';
import { GatewayError } from '../../canonical/index.ts';
import { firstOf, type Queries } from './database.ts';
import { addColumns, type Kind, latestOf, makeTable, table, type TableDeclaration } from './table.ts';
import type { UnixMs } from '../../base/units.ts';

/** Version of this program, as in package.json. */
export const PROGRAM = '0.1.0';

/** A migration of existing tables. */
export interface SchemaChange {
  /** Resulting schema version, greater than 1. */
  readonly version: number;
  /**
   * Oldest program that may use the database afterwards. Absent: all programs, because the change is compatible (a new table
   * or a nullable column). In PostgreSQL the previous minor version must keep working.
   */
  readonly oldestProgram?: string;
  /** Statements per database. */
  readonly up: Partial<Record<Kind, readonly string[]>>;
}

/** Tables of a database, and their migrations. */
export interface SchemaParts {
  readonly tables: readonly TableDeclaration[];
  readonly changes?: readonly SchemaChange[] | undefined;
}

const VERSIONS = table({
  name: 'schema_version',
  columns: {
    version: 'small',
    /** As in package.json. */
    oldest_program: 'text',
    /** Unix milliseconds. */
    applied_at: 'number',
  },
  key: ['version'],
  isLocal: true,
});

/** Schema version of these tables and migrations. */
export function versionOf({ tables, changes = [] }: SchemaParts): number {
  return Math.max(1, ...tables.map(latestOf), ...changes.map(({ version }) => version));
}

export interface Place {
  readonly kind: Kind;
  /** Name of the database in errors, e.g. its path. */
  readonly name: string;
  /** Unix milliseconds, stored with each version. */
  readonly nowMs: UnixMs;
}

/**
 * Creates or migrates the tables. Run it within a transaction that holds a lock, because two processes may start on the
 * same empty database.
 * @param program version of this program
 * @throws GatewayError `internal` for a database that requires a newer program, or from before version 1
 */
export function* bringUpToDate(
  place: Place,
  { tables, changes = [] }: SchemaParts,
  program: string = PROGRAM,
): Queries<void> {
  const { kind, name, nowMs } = place;
  const own = tables.filter(({ only }) => only === undefined || only === kind);
  const current = versionOf({ tables: own, changes });
  const before = yield* storedVersion(place);
  if (before === null) yield* makeTable(kind, VERSIONS);
  else if (isOlder(program, before.oldest_program))
    throw new GatewayError(
      'internal',
      `${name} requires Dragoman ${before.oldest_program} or newer; this is Dragoman ${program}. Install a newer version, or use another database.`,
    );
  const from = before?.version ?? 0;
  if (from >= current) return;
  for (const declared of own)
    if ((declared.since ?? 1) > from) yield* makeTable(kind, declared);
    else yield* addColumns(kind, declared, from);
  let oldest = before?.oldest_program ?? PROGRAM_OF_VERSION_1;
  for (const { version, oldestProgram, up } of changes.toSorted((a, b) => a.version - b.version)) {
    if (version <= from) continue;
    for (const statement of up[kind] ?? []) yield sql.raw(statement);
    if (oldestProgram !== undefined && isOlder(oldest, oldestProgram)) oldest = oldestProgram;
  }
  yield sql`insert into schema_version (version, oldest_program, applied_at)
    values (${current}, ${oldest}, ${nowMs})`;
}

/** First program with schema version 1. */
const PROGRAM_OF_VERSION_1 = '0.1.0';

interface VersionRow {
  readonly version: number;
  readonly oldest_program: string;
}

/** @returns the stored version; null for an empty database */
function* storedVersion({ kind, name }: Place): Queries<VersionRow | null> {
  if (yield* isThere(kind, VERSIONS.name)) {
    const latest = yield* firstOf(sql<VersionRow>`
      select version, oldest_program from schema_version order by version desc limit 1`);
    return latest ?? null;
  }
  if (yield* isThere(kind, 'schema_migrations'))
    throw new GatewayError(
      'internal',
      `${name} was created by a pre-release version of Dragoman and cannot be read. Start with an empty data directory or database, and create keys and projects again.`,
    );
  return null;
}

function* isThere(kind: Kind, table: string): Queries<boolean> {
  const found =
    kind === 'sqlite'
      ? sql`select 1 from sqlite_master where type = 'table' and name = ${table}`
      : sql`select 1 from pg_catalog.pg_class as c
          join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
          where c.relname = ${table} and n.nspname = current_schema`;
  return (yield found).length > 0;
}

/** Compares versions like `1.2.3`, ignoring a suffix after a hyphen. */
function isOlder(one: string, other: string): boolean {
  const numbers = (version: string): readonly number[] =>
    (version.split('-')[0] ?? '').split('.').map(Number);
  const [a, b] = [numbers(one), numbers(other)];
  const at = b.findIndex((number, index) => number !== (a[index] ?? 0));
  return at >= 0 && (a[at] ?? 0) < (b[at] ?? 0);
}
