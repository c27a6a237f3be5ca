// Chooses the storage that a configuration asks for. The only place where a command meets a concrete database.
import { join } from 'node:path';
import { ConfigError, type Config } from '../config/index.ts';
import { Files } from '../state/files.ts';
import { openBucket } from '../runtime/s3.ts';
import { BlobFolder } from '../storage/blob-folder.ts';
import { S3Blobs } from '../storage/s3-blobs.ts';
import { openSqliteStorage } from '../storage/sqlite/storage.ts';
import type { BlobStore, Storage } from '../storage/ports.ts';

/** How long an answer waits for a database before the journal is enough. */
const CONFIRM_MS = 1_000;

/**
 * Opens the database that the configuration names. Throws ConfigError for one that is not supported.
 * @param notice told, in a sentence, of modes of its files that were too loose
 * @param maxBytesPerKey what one key may store; asked at every write, since a reload may change it
 */
export async function openStorage(
  config: Config,
  notice: (sentence: string) => void,
  maxBytesPerKey: () => number = () => config.state.maxBytesPerKey,
): Promise<Storage> {
  if (config.databaseUrl)
    throw new ConfigError(
      'database_url',
      'only the embedded database is supported in this version; remove it (or DATABASE_URL)',
    );
  const { durability = 'local', spoolBytes } = config.ledger;
  return openSqliteStorage({
    path: join(config.dataDir, 'dragoman.db'),
    maxBytesPerKey,
    notice,
    journalBytes: () => spoolBytes,
    confirmMs: durability === 'database' ? CONFIRM_MS : null,
  });
}

/**
 * Files, with their bytes in a folder of the data directory, or in the store that the configuration names.
 * @param maxBytes of one file; asked at every upload, since a reload may change it
 */
export function openFiles(
  config: Config,
  { files }: Pick<Storage, 'files'>,
  maxBytes: () => number,
  now: () => number,
): Files {
  return new Files({ store: files, blobs: openBlobs(config), maxBytes, now });
}

function openBlobs({ dataDir, files: { store } }: Config): BlobStore {
  const folder = new BlobFolder(join(dataDir, 'files'));
  if (!store) return folder;
  const bucket = openBucket({ ...store, secretAccessKey: store.secretAccessKey.reveal() });
  // Not the folder of uploads: those of before the change stay there, and are nobody's leftovers.
  return new S3Blobs({
    bucket,
    prefix: store.prefix,
    folder: new BlobFolder(join(dataDir, 'files-to-send')),
  });
}
