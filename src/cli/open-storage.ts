// Chooses the storage that a configuration asks for. The only place where a command meets a concrete database.
import { join } from 'node:path';
import { ConfigError, type Config } from '../config/index.ts';
import { openSqliteStorage } from '../storage/sqlite-storage.ts';
import type { Storage } from '../storage/ports.ts';

/**
 * Opens the database that the configuration names. Throws ConfigError for one that is not supported.
 * @param maxBytesPerKey what one key may store; asked at every write, since a reload may change it
 */
export async function openStorage(
  config: Config,
  maxBytesPerKey: () => number = () => config.state.maxBytesPerKey,
): Promise<Storage> {
  if (config.databaseUrl)
    throw new ConfigError(
      'database_url',
      'only the embedded database is supported in this version; remove it (or DATABASE_URL)',
    );
  return openSqliteStorage({ path: join(config.dataDir, 'dragoman.db'), maxBytesPerKey });
}
