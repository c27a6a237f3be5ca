// Opens the SQLite database of a data directory and hands out its stores. The only place that chooses files,
// checkpoints and permissions.
import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Kysely } from 'kysely';
import { GatewayError } from '../../canonical/index.ts';
import { openSqlite } from '../../runtime/sqlite.ts';
import { closeToOthers } from '../closed-path.ts';
import { SqliteEntryTarget } from './entry-target.ts';
import { SqliteNames } from './names.ts';
import { ConversationItems } from './conversation-items.ts';
import { GroupCommit, type Schedule } from './group-commit.ts';
import { EntryKinds } from '../journal/entry-kinds.ts';
import { identityOf, JournalOrigin } from './journal-origin.ts';
import { Indexer, type Later } from '../journal/indexer.ts';
import { Journal } from '../journal/journal.ts';
import type { JournalFiles } from '../journal/journal-file.ts';
import { JournalFolder } from '../journal/journal-folder.ts';
import { migrate } from '../migrate.ts';
import { MIGRATIONS, type Migration } from './migrations.ts';
import type { Storage } from '../ports.ts';
import type { Schema } from './schema.ts';
import { NOTHING_RUNS, RunningFile } from '../running-file.ts';
import { masterSecret } from '../secret-file.ts';
import { checkSecrets, secretsFrom } from '../state/master-secrets.ts';
import { sqliteDialect } from './dialect.ts';
import type { SqliteStore } from './store.ts';
import { openStores, type OpenStores, type SqliteStores, STORES } from './stores.ts';
import { ShortSteps } from './short-steps.ts';
import { SqliteStateUsage } from './state-usage.ts';

export interface SqliteOptions {
  /** Database file, whose directory is made when needed, or `:memory:`. */
  readonly path: string;
  /** When to look at collected writes; `setImmediate` by default. */
  readonly schedule?: Schedule | undefined;
  /** When to bring the journal into the database; a quarter of a second later by default. */
  readonly later?: Later | undefined;
  /** Milliseconds since some time, for how long a deletion may hold the database; the system's own by default. */
  readonly elapsedMs?: (() => number) | undefined;
  /** Unix milliseconds; for the record of migrations, and how long journals that were set aside are kept. */
  readonly now?: (() => number) | undefined;
  readonly migrations?: readonly Migration[] | undefined;
  /** The most that may wait in the journal, in bytes; asked at every write. */
  readonly journalBytes?: (() => number) | undefined;
  /** How long an answer may wait for the database, in milliseconds; null: it does not. */
  readonly confirmMs?: number | null | undefined;
  /** How long a statement, and the event loop with it, waits for another process's lock. */
  readonly busyTimeoutMs?: number | undefined;
  /** The most that one project may store of responses, conversations, prompts and files; asked at every write. */
  readonly maxBytesPerKey?: (() => number) | undefined;
  /** Master secrets, newest first, instead of the file beside the database. */
  readonly secrets?: readonly Uint8Array[] | undefined;
  /** Told, in a sentence, of modes that were too loose. */
  readonly notice?: ((sentence: string) => void) | undefined;
}

/** What a key may store unless somebody says otherwise: 1024 MB. */
const MAX_BYTES_PER_KEY = 1024 * 1_000_000;

/**
 * Pages (4 kB) in the log before a commit copies them into the table file, which holds up the event loop for
 * about 8 microseconds a page: SQLite's own 1,000 pages are stalls of 6 to 12 ms, 250 pages stalls of 3 ms but a
 * fifth more CPU per record. 500 is between (measured 2026-11). A timer instead would copy the same pages, but
 * would let the log grow without bound under load.
 */
const CHECKPOINT_PAGES = 500;

/** The most that waits for the database, in memory and in the journal: about half a million records. */
const MAX_JOURNAL_BYTES = 128_000_000;

/** How long a record may be in the journal alone, unless the database takes nothing. */
const INDEX_AFTER_MS = 250;

/** Does not keep the process alive: what is not done then is done by the next one. */
const soon: Later = (task) => void setTimeout(task, INDEX_AFTER_MS).unref();

/** What an installation has besides its stores. */
type Rest = Pick<
  Storage,
  'blobs' | 'findings' | 'notices' | 'running' | 'secret' | 'earlierSecrets' | 'close'
>;

/**
 * Opens, migrates and returns the storage of one installation.
 * @throws GatewayError `internal` when the file cannot be opened or belongs to a newer program
 */
export function openSqliteStorage(options: SqliteOptions): Promise<Storage> {
  return openWith(STORES, options);
}

/** `openSqliteStorage` for a choice of stores. */
export async function openWith<S extends SqliteStores>(
  kinds: S,
  options: SqliteOptions,
): Promise<OpenStores<S> & Rest> {
  const { path } = options;
  const inMemory = path === ':memory:';
  const notice = options.notice ?? (() => {});
  const connection = open(path, inMemory, notice, options.busyTimeoutMs);
  const db = new Kysely<Schema>({ dialect: sqliteDialect(connection) });
  let indexer: Indexer;
  let commits: GroupCommit;
  let journalFiles: JournalFiles | null = null;
  let stores: OpenStores<S>;
  const lastTasks: (() => Promise<void>)[] = [];
  try {
    connection.exec(`pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    connection.exec('begin immediate');
    const migrations = [
      ...(options.migrations ?? MIGRATIONS),
      ...Object.values(kinds).flatMap(ownMigrations),
    ];
    const now = options.now ?? Date.now;
    await migrate(db, path, now(), migrations);
    const identity = await identityOf(db);
    connection.exec('commit');
    // Prepared here: tables that were not made by these migrations are met at the start, not by the first request.
    commits = new GroupCommit(connection, options.schedule ?? setImmediate);
    const steps = new ShortSteps(commits, options.elapsedMs ?? (() => performance.now()));
    const names = new SqliteNames(connection, db);
    const origin = new JournalOrigin(identity, names);
    const folder = inMemory ? null : new JournalFolder(join(dirname(path), 'journal'), origin);
    journalFiles = folder?.own() ?? null;
    const files = journalFiles;
    const entries = new EntryKinds<[], void>(notice);
    indexer = new Indexer({
      journal: new Journal({
        next: files && (() => files.next()),
        maxBytes: options.journalBytes ?? (() => MAX_JOURNAL_BYTES),
        origin,
      }),
      folder,
      target: new SqliteEntryTarget(entries, commits, names),
      later: options.later ?? soon,
      confirmMs: options.confirmMs,
      notice,
    });
    const usage = new SqliteStateUsage(
      connection,
      db,
      options.maxBytesPerKey ?? (() => MAX_BYTES_PER_KEY),
      () => indexer.caughtUp(),
    );
    const items = new ConversationItems(connection, db, usage);
    const beforeClose = (task: () => Promise<void>): void => void lastTasks.push(task);
    const state = { names, usage, items };
    const base = { connection, db, commits, steps, indexer, entries, ...state, now, beforeClose };
    stores = openStores(kinds, base);
    await indexer.recover(now());
  } catch (error) {
    if (connection.inTransaction) connection.exec('rollback');
    connection.close();
    if (GatewayError.is(error)) throw error;
    throw new GatewayError(
      'internal',
      `the database ${path} is not one that this program can use (${errorText(error)}): it may be another program's, damaged, or of a version that was never released. Start with another data directory, or put a backup back.`,
      { cause: error },
    );
  }

  let masters: Promise<readonly Uint8Array[]> | null = null;
  const ownSecrets = async (): Promise<readonly Uint8Array[]> => {
    if (inMemory) return [randomBytes(32)];
    const { secrets = [] } = options;
    if (secrets.length === 0) return secretOfFile(db, join(dirname(path), 'secret.key'), notice);
    await checkSecrets(db, secrets, 'the secret of the configuration');
    return secrets;
  };
  const running = inMemory ? null : new RunningFile(join(dirname(path), 'running'));
  return {
    ...stores,
    blobs: null,
    findings: null,
    notices: null,
    running: running ?? NOTHING_RUNS,
    ...secretsFrom(() => (masters ??= ownSecrets())),
    async close() {
      await commits.flush();
      await indexer.finish();
      for (const task of lastTasks) await task();
      journalFiles?.close();
      running?.close();
      // Leaves one file behind instead of three; another process may still be reading, which is no error.
      if (!inMemory) connection.prepare('pragma wal_checkpoint(truncate)').all();
      await db.destroy();
    },
  };
}

function ownMigrations({ migrations = [] }: SqliteStore<unknown>): readonly Migration[] {
  return migrations;
}

function open(
  path: string,
  inMemory: boolean,
  notice: (sentence: string) => void,
  busyTimeoutMs: number | undefined,
): ReturnType<typeof openSqlite> {
  try {
    // Records may hold prompts: nobody but the owner may enter the directory.
    if (!inMemory) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      tighten(dirname(path), notice);
      // Some directories cannot be closed. SQLite gives its log the mode of the database.
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

/** The master secret of the file, which is made where nothing depends on one yet. */
async function secretOfFile(
  db: Kysely<Schema>,
  file: string,
  notice: (sentence: string) => void,
): Promise<readonly Uint8Array[]> {
  const known = await db
    .selectFrom('settings')
    .select('value')
    .where('name', '=', 'secret_fingerprint')
    .executeTakeFirst();
  const master = masterSecret(file, known === undefined);
  tighten(file, notice);
  await checkSecrets(db, [master], file);
  return [master];
}

/** Closes what was there before to other users, and says so. */
function tighten(path: string, notice: (sentence: string) => void): void {
  const sentence = closeToOthers(path);
  if (sentence !== null) notice(sentence);
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
