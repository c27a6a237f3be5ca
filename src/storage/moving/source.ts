// The data directory to move. It is opened like in a gateway, so that journal entries are written to its tables, and
// locked so that nothing else writes to it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import { openSqlite, type SqlConnection, type SqlRow, type SqlValue } from '../../base/runtime/sqlite.ts';
import type { Storage } from '../../accounts/ports/index.ts';
import { openWith } from '../sqlite/storage.ts';
import type { SqliteDatabase } from '../sqlite/database.ts';
import { STATE_STORES } from '../tables/stores.ts';
import type { UnixMs } from '../../base/units.ts';
import { errorCode, errorText } from '../../base/lib/errors.ts';

export interface Source {
  /** Storage as a gateway has it. */
  readonly storage: Storage;
  /** Unique id of the data directory. */
  readonly identity: string;
  rows(query: string, ...values: SqlValue[]): readonly SqlRow[];
  /** Resolves when all appended entries are in the tables and all sums are folded. */
  settle(nowMs: UnixMs): Promise<void>;
  close(): Promise<void>;
}

export interface SourceOptions {
  readonly dataDir: string;
  /** Master secrets, newest first. Empty: from the directory's own file. */
  readonly secrets: readonly Uint8Array[];
  readonly notice: (sentence: string) => void;
}

/**
 * Opens a data directory to move.
 * @throws GatewayError `internal` if it does not exist, is in use, or was used with other secrets
 */
export async function openSource({ dataDir, secrets, notice }: SourceOptions): Promise<Source> {
  const path = join(dataDir, 'dragoman.db');
  if (!existsSync(path)) throw new GatewayError('internal', TEXTS.noDatabase(dataDir));
  refuseUsed(path, dataDir);
  const { database, ...storage } = await openWith(
    { ...STATE_STORES, database: { open: (own: SqliteDatabase) => own } },
    { path, secrets, notice },
  );
  const { connection, indexer } = database;
  try {
    hold(connection, dataDir);
    // Checks the secret: with another one, no key would be found.
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

/**
 * Checks that no other process has the database open. Each holds a shared lock, which conflicts with an exclusive one.
 */
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
  const reason = errorText(error);
  return new GatewayError('internal', `the database in ${dataDir} cannot be used: ${reason}`, {
    cause: error,
  });
}

/** Locks the database exclusively until it is closed. */
function hold(connection: SqlConnection, dataDir: string): void {
  try {
    connection.exec('pragma locking_mode = exclusive');
    connection.exec('begin exclusive');
    connection.exec('commit');
  } catch (error) {
    if (errorCode(error) !== 'SQLITE_BUSY') throw unusable(dataDir, error);
    throw new GatewayError(
      'internal',
      `${dataDir} is in use. Stop the gateway and all commands that use it, and start again.`,
      { cause: error },
    );
  }
}
