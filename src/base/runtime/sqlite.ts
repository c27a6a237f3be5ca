// Opens SQLite databases. The only file that names bun:sqlite; everybody else sees the small interface below.
// Knows nothing of tables, of records, or of Kysely.
import { Database, type SQLQueryBindings } from 'bun:sqlite';

export type SqlValue = string | number | bigint | boolean | null | Uint8Array;
export type SqlRow = Record<string, unknown>;

/** A prepared statement. Values are bound by position. */
export interface SqlStatement {
  /** True when the statement yields rows. */
  readonly reader: boolean;
  /** Runs it without reading rows. */
  readonly run: (...values: SqlValue[]) => {
    readonly changes: number;
    readonly lastInsertRowid: number | bigint;
  };
  readonly all: (...values: SqlValue[]) => SqlRow[];
}

export interface SqlConnection {
  /** Prepares a statement. The same text gives the same one, as long as texts are few. */
  prepare(sql: string): SqlStatement;
  /** Runs one or more statements without parameters. */
  exec(sql: string): void;
  /** True between `begin` and `commit` or `rollback`; false when an error made SQLite roll back by itself. */
  readonly inTransaction: boolean;
  close(): void;
}

/** Statements that are kept. Texts that differ by what is changed, or by the length of a list, are few. */
const MOST_STATEMENTS = 500;

/**
 * Opens (and creates) a database with the settings that a long-running server wants.
 * @param path file, or `:memory:`
 * @param busyTimeoutMs how long a statement waits for another process's lock; the event loop waits with it
 */
export function openSqlite(path: string, busyTimeoutMs = 2_000): SqlConnection {
  const database = new Database(path, { create: true, readwrite: true });
  database.run(`pragma busy_timeout = ${busyTimeoutMs}`);
  // In WAL mode `synchronous = normal` does not sync on commit: a commit survives the death of the process,
  // and a power cut loses at most the last moments without damage (sqlite.org/pragma.html#pragma_synchronous).
  database.run('pragma journal_mode = wal');
  database.run('pragma synchronous = normal');
  database.run('pragma foreign_keys = on');
  // Deleted data is overwritten: its pages would keep it until they are used again (sqlite.org/pragma.html#pragma_secure_delete).
  database.run('pragma secure_delete = on');
  const prepared = new Map<string, SqlStatement>();
  return {
    prepare(sql) {
      const known = prepared.get(sql);
      if (known) return known;
      const made = statement(database, sql);
      if (prepared.size < MOST_STATEMENTS) prepared.set(sql, made);
      return made;
    },
    exec: (sql) => void database.run(sql),
    get inTransaction() {
      return database.inTransaction;
    },
    close: () => database.close(),
  };
}

function statement(database: Database, sql: string): SqlStatement {
  const prepared = database.prepare<SqlRow, SQLQueryBindings[]>(sql);
  return {
    reader: prepared.columnNames.length > 0,
    // Bound, not wrapped: some hundred values would be copied once more.
    run: prepared.run.bind(prepared),
    all: prepared.all.bind(prepared),
  };
}

/**
 * Takes a lock that the system gives back when the process dies, however it dies. A file of this name is made.
 * @returns what gives it back; null while somebody else has it
 */
export function lockFile(path: string): (() => void) | null {
  // SQLite's own locks, which every system has and which also hold between two users of one process.
  const database = new Database(path, { create: true, readwrite: true });
  try {
    database.run('pragma busy_timeout = 0');
    database.run('pragma journal_mode = memory');
    database.run('begin exclusive');
  } catch (error) {
    database.close();
    if ((error as { code?: unknown }).code === 'SQLITE_BUSY') return null;
    throw error;
  }
  return () => database.close();
}

/** A database that is only read: nothing of it changes, nor is anything beside it made. */
export interface SqlInspection {
  readonly all: (sql: string) => SqlRow[];
  close(): void;
}

/** Opens a database that nobody writes to, such as a copy. */
export function inspectSqlite(path: string): SqlInspection {
  const database = new Database(path, { readonly: true });
  return {
    all: (sql) => database.prepare<SqlRow, SQLQueryBindings[]>(sql).all(),
    close: () => database.close(),
  };
}
