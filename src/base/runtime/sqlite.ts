// Opens SQLite databases. The only file that imports bun:sqlite.
import { Database, type SQLQueryBindings } from 'bun:sqlite';
import { errorCode } from '../lib/errors.ts';

export type SqlValue = string | number | bigint | boolean | null | Uint8Array;
export type SqlRow = Record<string, unknown>;

/** A prepared statement. Values are bound by position. */
export interface SqlStatement {
  /** True if the statement returns rows. */
  readonly reader: boolean;
  /** Runs the statement without reading rows. */
  readonly run: (...values: SqlValue[]) => {
    readonly changes: number;
    readonly lastInsertRowid: number | bigint;
  };
  readonly all: (...values: SqlValue[]) => SqlRow[];
}

export interface SqlConnection {
  /** Prepares a statement. The last `MOST_STATEMENTS` are cached by their text. */
  prepare(sql: string): SqlStatement;
  /** Runs one or more statements without parameters. */
  exec(sql: string): void;
  /** True between `begin` and `commit` or `rollback`. False if an error made SQLite roll back. */
  readonly inTransaction: boolean;
  close(): void;
}

/** Number of cached statements. The texts differ only by the changed columns and the lengths of lists. */
const MOST_STATEMENTS = 500;

/**
 * Opens a database with settings for a long-running server. Creates the file if needed.
 * @param path file, or `:memory:`
 * @param busyTimeoutMs milliseconds to wait for another process's lock; this blocks the event loop
 */
export function openSqlite(path: string, busyTimeoutMs = 2_000): SqlConnection {
  const database = new Database(path, { create: true, readwrite: true });
  database.run(`pragma busy_timeout = ${busyTimeoutMs}`);
  // In WAL mode `synchronous = normal` does not sync on commit. A commit survives a crash of the process, and a power cut
  // loses at most the last moments without corruption (sqlite.org/pragma.html#pragma_synchronous).
  database.run('pragma journal_mode = wal');
  database.run('pragma synchronous = normal');
  database.run('pragma foreign_keys = on');
  // Overwrites deleted data, which would otherwise stay in its pages until they are reused
  // (sqlite.org/pragma.html#pragma_secure_delete).
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
    // Bound instead of wrapped: a wrapper would copy some hundred values once more.
    run: prepared.run.bind(prepared),
    all: prepared.all.bind(prepared),
  };
}

/**
 * Takes a lock that the system releases when the process ends for any reason. Creates the file if needed.
 * @returns a function that releases the lock; null if it is held elsewhere
 */
export function lockFile(path: string): (() => void) | null {
  // Uses SQLite's locks, which work on every system, also between two users within one process.
  const database = new Database(path, { create: true, readwrite: true });
  try {
    database.run('pragma busy_timeout = 0');
    database.run('pragma journal_mode = memory');
    database.run('begin exclusive');
  } catch (error) {
    database.close();
    if (errorCode(error) === 'SQLITE_BUSY') return null;
    throw error;
  }
  return () => database.close();
}

/** A database opened for reading. Neither changes it nor creates files beside it. */
export interface SqlInspection {
  readonly all: (sql: string) => SqlRow[];
  close(): void;
}

/** Opens a database that is not in use, such as a copy. */
export function inspectSqlite(path: string): SqlInspection {
  const database = new Database(path, { readonly: true });
  return {
    all: (sql) => database.prepare<SqlRow, SQLQueryBindings[]>(sql).all(),
    close: () => database.close(),
  };
}
