// Opens the storage of a configuration. The only place where commands depend on a concrete database.
import { join } from 'node:path';
import { GatewayError } from '../../../canonical/index.ts';
import { ConfigError, type Config } from '../../config/index.ts';
import { Files } from '../../../engine/state/files.ts';
import { openBucket } from '../../../base/runtime/s3.ts';
import { BlobFolder } from '../../../storage/blobs/blob-folder.ts';
import { S3Blobs } from '../../../storage/blobs/s3-blobs.ts';
import { masterOf } from '../../../storage/secrets/secret-file.ts';
import { openSqliteStorage } from '../../../storage/sqlite/storage.ts';
import { inThisShell } from '../program-name.ts';
import type { BlobStore, Storage } from '../../../accounts/ports/index.ts';
import type { UnixMs } from '../../../base/units.ts';

/** Milliseconds that an answer waits for the database before the journal suffices. */
const CONFIRM_MS = 1_000;

/**
 * Opens the configured database. Throws ConfigError for an unsupported one.
 * @param notice called with a sentence about file permissions that were too open
 * @param maxBytesPerKey storage limit per key; read at every write, because a reload may change it
 * @param now Unix milliseconds, for a database without its own clock
 */
export async function openStorage(
  config: Config,
  notice: (sentence: string) => void,
  maxBytesPerKey: () => number = () => config.state.maxBytesPerKey,
  now: () => UnixMs = Date.now,
): Promise<Storage> {
  const { dataDir, databaseUrl } = config;
  const secrets = masterSecrets(config);
  const { durability = databaseUrl ? 'database' : 'local', spoolBytes } = config.ledger;
  const confirmMs = durability === 'database' ? CONFIRM_MS : null;
  if (!databaseUrl)
    return openSqliteStorage({
      path: join(dataDir, 'dragoman.db'),
      secrets,
      maxBytesPerKey,
      notice,
      journalBytes: () => spoolBytes,
      confirmMs,
      now,
    });
  if (secrets.length === 0)
    throw new ConfigError(
      'secret',
      'required with `database_url`: all processes that share the database need the same secret. Set it (or DRAGOMAN_SECRET) to the output of `openssl rand -hex 32`. To keep existing keys valid, use the content of secret.key in their data directory.',
    );
  // Loaded on demand, so that a gateway with the embedded database does not hold it in memory.
  const { openPostgresStorage } = await import('../../../storage/postgres/storage.ts');
  try {
    return await openPostgresStorage({
      url: databaseUrl.reveal(),
      secrets,
      running: join(dataDir, 'running'),
      spool: join(dataDir, 'spool'),
      spoolBytes: () => spoolBytes,
      confirmMs,
      maxBytesPerKey,
      notice,
      command: inThisShell,
    });
  } catch (error) {
    if (GatewayError.is(error) && error.param === 'database_url')
      throw new ConfigError('database_url', error.message);
    throw error;
  }
}

/** Secrets of the configuration, newest first. Empty: none. */
export function masterSecrets({ secret, earlierSecrets }: Config): readonly Uint8Array[] {
  const given = [secret, ...earlierSecrets].filter((one) => one !== null);
  if (!secret && given.length > 0)
    throw new ConfigError('earlier_secrets', 'requires `secret`, which is not set');
  return given.map((one) => {
    const master = masterOf(one.reveal());
    if (!master)
      throw new ConfigError(
        'secret',
        'must be 64 hexadecimal digits, such as the output of `openssl rand -hex 32`',
      );
    return master;
  });
}

/**
 * Files, whose bytes are in the configured store, otherwise in a shared database or the data directory.
 * @param maxBytes maximum size of a file; read at every upload, because a reload may change it
 */
export function openFiles(
  config: Config,
  { files, uploads, blobs }: Pick<Storage, 'files' | 'uploads' | 'blobs'>,
  maxBytes: () => number,
  now: () => UnixMs,
): Files {
  return new Files({ store: files, uploads, blobs: openBlobs(config, blobs), maxBytes, now });
}

function openBlobs({ dataDir, files: { store } }: Config, inDatabase: BlobStore | null): BlobStore {
  if (!store) return inDatabase ?? new BlobFolder(join(dataDir, 'files'));
  const bucket = openBucket({ ...store, secretAccessKey: store.secretAccessKey.reveal() });
  // Separate from the upload folder, whose older files must not be treated as abandoned.
  return new S3Blobs({
    bucket,
    prefix: store.prefix,
    folder: new BlobFolder(join(dataDir, 'files-to-send')),
  });
}
