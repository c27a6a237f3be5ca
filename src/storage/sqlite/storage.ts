// Opens the SQLite database of a data directory and its stores: files, permissions and checkpoints.
import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import { openSqlite } from '../../base/runtime/sqlite.ts';
import { closeToOthers, refuseForeignLink } from '../secrets/closed-path.ts';
import { entryTarget } from './entry-target.ts';
import { CHECKPOINT_PAGES, GroupCommit, type Schedule } from './group-commit.ts';
import { JournalFolder } from '../journal/journal-folder.ts';
import { bringUpToDate } from '../tables/schema.ts';
import type { Queries } from '../tables/database.ts';
import { addSetting, settingOf } from '../tables/installation/settings.ts';
import { columnsOf, quoted } from '../tables/table.ts';
import type { Storage } from '../../accounts/ports/index.ts';
import { type OpenOptions, openState, type OpenState } from '../open-state.ts';
import { masterSecret } from '../secrets/secret-file.ts';
import { checkSecrets, secretsFrom } from '../secrets/master-secrets.ts';
import { type SqliteDatabase, type SqliteDriver, sqliteDriver } from './database.ts';
import { type OpenStores, schemaOf, STATE_STORES, type Stores } from '../tables/stores.ts';
import { ShortSteps } from './short-steps.ts';
import type { DurationMs } from '../../base/units.ts';
import { errorText } from '../../base/lib/errors.ts';

export interface SqliteOptions extends OpenOptions {
  /**
   * Database file, or `:memory:`. Missing directories are created. Without `secrets`, the master secret is in a file
   * beside it.
   */
  readonly path: string;
  /** Schedules group commits; `setImmediate` by default. */
  readonly schedule?: Schedule | undefined;
  /** Monotonic clock in milliseconds, for the length of deletion steps; the system's by default. */
  readonly elapsedMs?: (() => number) | undefined;
  /** Maximum bytes in the journal; read at every write. */
  readonly journalBytes?: (() => number) | undefined;
  /** Time that a statement, and with it the event loop, waits for the lock of another process. */
  readonly busyTimeoutMs?: DurationMs | undefined;
}

/** Parts of `Storage` other than stores. */
type Rest = Pick<
  Storage,
  | 'blobs'
  | 'findings'
  | 'interruptedTries'
  | 'marks'
  | 'notices'
  | 'replicas'
  | 'running'
  | 'secret'
  | 'earlierSecrets'
  | 'close'
>;

/**
 * Opens and migrates the storage of an installation.
 * @throws GatewayError `internal` if the file cannot be opened or was used by a newer version
 */
export function openSqliteStorage(options: SqliteOptions): Promise<Storage> {
  return openWith(STATE_STORES, options);
}

/** Same as `openSqliteStorage`, for a choice of stores. */
export async function openWith<S extends Stores<SqliteDatabase>>(
  kinds: S,
  options: SqliteOptions,
): Promise<OpenStores<S> & Rest> {
  const { path } = options;
  const inMemory = path === ':memory:';
  const { now = Date.now, notice = () => {} } = options;
  const connection = open(path, inMemory, notice, options.busyTimeoutMs);
  const elapsedMs = options.elapsedMs ?? (() => performance.now());
  const commits = new GroupCommit(connection, options.schedule ?? setImmediate, elapsedMs);
  const steps = new ShortSteps(commits, elapsedMs);
  const driver = sqliteDriver({ connection, commits, steps, now });
  let state: OpenState<S>;
  try {
    connection.exec(`pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    connection.exec('begin immediate');
    const schema = schemaOf(kinds);
    driver.run(bringUpToDate({ kind: 'sqlite', name: path, nowMs: now() }, schema, options.program));
    const origin = driver.run(identityOf());
    connection.exec('commit');
    // Detects tables with other columns at the start, instead of in the first request.
    for (const table of schema.tables.filter(({ only }) => only !== 'postgres')) {
      const [of, columns] = [quoted(table.name), columnsOf(table)];
      connection.prepare(`select ${columns.map((name) => `${of}.${quoted(name)}`).join(', ')} from ${of}`);
    }
    state = await openState(kinds, options, {
      driver,
      own: { connection },
      folder: inMemory ? null : new JournalFolder(join(dirname(path), 'journal'), origin),
      maxBytes: options.journalBytes,
      journal: { origin },
      target: (entries) => entryTarget(entries, commits, driver),
      remote: () => null,
      running: inMemory ? null : join(dirname(path), 'running'),
    });
  } catch (error) {
    if (connection.inTransaction) connection.exec('rollback');
    connection.close();
    if (GatewayError.is(error)) throw error;
    throw new GatewayError(
      'internal',
      `the database ${path} cannot be used (${errorText(error)}). It may belong to another program, be damaged, or come from an unreleased version. Use another data directory, or restore a backup.`,
      { cause: error },
    );
  }

  let masters: Promise<readonly Uint8Array[]> | null = null;
  const ownSecrets = async (): Promise<readonly Uint8Array[]> => {
    if (inMemory) return [randomBytes(32)];
    const { secrets = [] } = options;
    if (secrets.length === 0) return secretOfFile(driver, join(dirname(path), 'secret.key'), notice);
    await driver.ask(() => checkSecrets(secrets, TEXTS.configuredSecret));
    return secrets;
  };
  return {
    ...state.stores,
    blobs: null,
    findings: null,
    interruptedTries: null,
    replicas: null,
    notices: null,
    ...secretsFrom(() => (masters ??= ownSecrets())),
    async close() {
      // Requests that wait for these writes get the error.
      await commits.flush().catch(() => {});
      await state.finish();
      state.closeFiles();
      if (!inMemory) leaveOneFile(connection);
      connection.close();
    },
  };
}

/** Leaves one file instead of three. It is not an error if another process is still reading, or if the disk is full. */
function leaveOneFile(connection: ReturnType<typeof open>): void {
  try {
    connection.prepare('pragma wal_checkpoint(truncate)').all();
  } catch {
    // The next start reads all three.
  }
}

function open(
  path: string,
  inMemory: boolean,
  notice: (sentence: string) => void,
  busyTimeoutMs: DurationMs | undefined,
): ReturnType<typeof openSqlite> {
  try {
    // Records may contain prompts, so only the owner may access the directory.
    if (!inMemory) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      // Until now, others may have been able to place a link.
      refuseForeignLink(path);
      tighten(dirname(path), notice);
      // Some directories cannot be restricted, so the file is created with its mode. SQLite uses the same mode for its
      // log.
      closeSync(openSync(path, 'a', 0o600));
      tighten(path, notice);
    }
    return openSqlite(path, busyTimeoutMs);
  } catch (error) {
    if (GatewayError.is(error)) throw error;
    throw new GatewayError('internal', `the database ${path} cannot be opened: ${errorText(error)}`, {
      cause: error,
    });
  }
}

/** Master secret from the file. Created only if no stored data depends on an earlier one. */
async function secretOfFile(
  { ask }: SqliteDriver,
  file: string,
  notice: (sentence: string) => void,
): Promise<readonly Uint8Array[]> {
  const known = await ask(() => settingOf('secret_fingerprint'));
  const master = masterSecret(file, known === undefined);
  tighten(file, notice);
  await ask(() => checkSecrets([master], file));
  return [master];
}

/** Restricts the permissions of an existing path, and reports it. */
function tighten(path: string, notice: (sentence: string) => void): void {
  const sentence = closeToOthers(path);
  if (sentence !== null) notice(sentence);
}

// Identity of the database, stored once. Its journals refer to it.

const SETTING = 'identity';
const IDENTITY_BYTES = 8;

/** Reads or creates the identity. */
function* identityOf(): Queries<Uint8Array> {
  yield* addSetting(SETTING, randomBytes(IDENTITY_BYTES).toString('hex'));
  return Buffer.from((yield* settingOf(SETTING)) ?? '', 'hex');
}
