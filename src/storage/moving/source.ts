// The data directory that is moved: opened as a gateway opens it, so that what waits in journals is in its tables; and held, so
// that nobody writes to it meanwhile.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import { openSqlite, type SqlConnection, type SqlRow, type SqlValue } from '../../base/runtime/sqlite.ts';
import type { Storage } from '../../accounts/ports/index.ts';
import { openWith } from '../sqlite/storage.ts';
import { STORES } from '../sqlite/stores.ts';
import type { SqliteBase } from '../sqlite/store.ts';
import type { UnixMs } from '../../base/units.ts';

export interface Source {
  /** The same as of a gateway on this directory. */
  readonly storage: Storage;
  /** Tells it from every other data directory. */
  readonly identity: string;
  rows(query: string, ...values: SqlValue[]): readonly SqlRow[];
  /** Resolves when all that was appended is in the tables, and sums are up to date. */
  settle(nowMs: UnixMs): Promise<void>;
  close(): Promise<void>;
}

export interface SourceOptions {
  readonly dataDir: string;
  /** Master secrets, newest first; none: those of its own file. */
  readonly secrets: readonly Uint8Array[];
  readonly notice: (sentence: string) => void;
}

/**
 * Opens a data directory to be moved.
 * @throws GatewayError `internal` where there is none, where somebody uses it, and where the secrets are not its own
 */
export async function openSource({ dataDir, secrets, notice }: SourceOptions): Promise<Source> {
  const path = join(dataDir, 'dragoman.db');
  if (!existsSync(path)) throw new GatewayError('internal', TEXTS.noDatabase(dataDir));
  refuseUsed(path, dataDir);
  const { base, ...storage } = await openWith(
    { ...STORES, base: { open: (base: SqliteBase) => base } },
    { path, secrets, notice },
  );
  const { connection, indexer } = base;
  try {
    hold(connection, dataDir);
    // The secret is asked for to have it checked: under another one no key would be known.
    await storage.secret('pepper');
    const rows: Source['rows'] = (query, ...values) => connection.prepare(query).all(...values);
    return {
      storage,
      identity: String(rows("select value from settings where name = 'identity'")[0]?.['value']),
      rows,
      async settle(nowMs) {
        await indexer.caughtUp();
        while (await storage.usage.maintain(nowMs));
      },
      close: () => storage.close(),
    };
  } catch (error) {
    await storage.close();
    throw error;
  }
}

/** Every process that has a database open holds a lock on it, which only one that wants it alone meets. */
function refuseUsed(path: string, dataDir: string): void {
  let connection: SqlConnection;
  try {
    connection = openSqlite(path, 0);
  } catch (error) {
    throw unusable(dataDir, error);
  }
  try {
    hold(connection, dataDir);
  } finally {
    connection.close();
  }
}

function unusable(dataDir: string, error: unknown): GatewayError {
  const reason = error instanceof Error ? error.message : String(error);
  return new GatewayError('internal', `the database in ${dataDir} cannot be used: ${reason}`, {
    cause: error,
  });
}

/** Reserves the database for this process alone, from now on. */
function hold(connection: SqlConnection, dataDir: string): void {
  try {
    connection.exec('pragma locking_mode = exclusive');
    connection.exec('begin exclusive');
    connection.exec('commit');
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'SQLITE_BUSY') throw unusable(dataDir, error);
    throw new GatewayError(
      'internal',
      `${dataDir} is in use: stop the gateway (and every command) that runs on it, and begin again`,
      { cause: error },
    );
  }
}
