// Opens a PostgreSQL database and its stores: connections, schema, journal and breaker.
import { Kysely, PostgresDialect, type PostgresPool, sql } from 'kysely';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import { JournalFolder } from '../journal/journal-folder.ts';
import { bringUpToDate } from '../tables/schema.ts';
import type { SharedDatabase } from '../tables/database.ts';
import { settingOf } from '../tables/installation/settings.ts';
import type { Storage } from '../../accounts/ports/index.ts';
import { openState, type OpenOptions, reasonOf } from '../open-state.ts';
import { checkSecrets, secretsFrom } from '../secrets/master-secrets.ts';
import { Breaker } from './breaker.ts';
import { ownSchema, postgresDriver } from './database.ts';
import { JoinedTurns } from './joined-turns.ts';
import { isAway } from '../database-away.ts';
import { listenTo, openPool } from './pool.ts';
import { entryTarget } from './entry-target.ts';
import { type OpenStores, POSTGRES_STORES, schemaOf, type Stores } from '../tables/stores.ts';
import type { SchemaParts } from '../tables/schema.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

export interface PostgresOptions extends OpenOptions {
  /** URL with the password; never logged. The database holds no secrets. */
  readonly url: string;
  /** Local folder for the spend of running requests; null: not recorded. */
  readonly running?: string | null | undefined;
  /** Maximum number of connections of this process. */
  readonly connections?: number | undefined;
  /** Milliseconds after which the server cancels a statement. */
  readonly statementMs?: DurationMs | undefined;
  /** Milliseconds for getting a free or new connection; 5 seconds by default. */
  readonly connectMs?: DurationMs | undefined;
  /** Folder for entries that wait for the database; null: they wait in memory only. */
  readonly spool?: string | null | undefined;
  /** Maximum bytes in that folder. */
  readonly spoolBytes?: (() => number) | undefined;
  /** Formats a command of this program as the user types it, given its arguments. For errors. */
  readonly command?: ((rest: string) => string) | undefined;
}

/** Sufficient for a process with one CPU. With a hundred processes, a pooler is needed. */
const CONNECTIONS = 10;
/** Queries of state use an index and take milliseconds. Longer ones indicate a database in trouble. */
const STATEMENT_MS = 5_000;
/** Statement timeout of checks whether the database is reachable. */
const PROBE_STATEMENT_MS = 1_000;
/** Connect timeout of these checks: short, because after a lost packet the next attempt may succeed. */
const PROBE_CONNECT_MS = 2_000;
/** Setting that exists while a data directory is moved to this database. */
export const MOVING = 'moving';
/** Advisory lock for creating tables. Any number that is otherwise unused in the database. */
const MIGRATION_LOCK = 7_283_641_095_518_337;

/** Parts of `Storage` other than stores. */
type Rest = Pick<Storage, 'marks' | 'running' | 'secret' | 'earlierSecrets' | 'close'>;

/**
 * Opens and migrates the storage of an installation, for one of its processes.
 * @throws GatewayError `internal` if the database is unreachable or was used by a newer version
 */
export async function openPostgresStorage(options: PostgresOptions): Promise<Storage> {
  const { command = (rest: string) => `dragoman ${rest}` } = options;
  const { moving, ...storage } = await openWith({ ...POSTGRES_STORES, moving: { open: isMoving } }, options);
  if (!(await moving())) return storage;
  await storage.close();
  throw new GatewayError(
    'internal',
    `moving a data directory to this database has not been completed. Complete it first with \`${command('migrate sqlite-to-postgres')}\`.`,
  );
}

function isMoving({ ask }: SharedDatabase): () => Promise<boolean> {
  return async () => (await ask(() => settingOf(MOVING))) !== undefined;
}

/**
 * Same as `openPostgresStorage`, for a choice of stores.
 * @throws GatewayError `internal` if the database is unreachable or was used by a newer version
 */
export async function openWith<S extends Stores<SharedDatabase>>(
  kinds: S,
  options: PostgresOptions,
): Promise<OpenStores<S> & Rest> {
  const { secrets = [], url, connections = CONNECTIONS, statementMs = STATEMENT_MS, connectMs } = options;
  const { now = Date.now, notice = () => {} } = options;
  const searchPath = await makeTables(options, now(), schemaOf(kinds));
  const breaker = new Breaker({
    pool: (seen) => openPool({ url, max: connections, statementMs, connectMs, searchPath, seen }),
    probe: () => openPool({ url, max: 1, statementMs: PROBE_STATEMENT_MS, connectMs: PROBE_CONNECT_MS }),
    notice,
  });
  const db = builderOn(breaker);
  const driver = postgresDriver(db);
  const { stores, finish, closeFiles } = await openState(kinds, options, {
    driver,
    own: { listen: (channel: string, received: (text: string) => void) => listenTo(url, channel, received) },
    folder: options.spool ? new JournalFolder(options.spool) : null,
    maxBytes: options.spoolBytes,
    // Requests whose answers wait for the database do not fail if the journal cannot be written.
    journal: { keepsUnwritten: typeof options.confirmMs === 'number' },
    target: (entries) => entryTarget(entries, driver, notice),
    remote(usage) {
      const joined = new JoinedTurns(driver, usage);
      return { isOutOfReach: () => breaker.isOpen, writeAtOnce: (turn) => joined.write(turn) };
    },
    running: options.running ?? null,
  });
  await driver.ask(() => checkSecrets(secrets, TEXTS.configuredSecret));
  return {
    ...stores,
    ...secretsFrom(async () => secrets),
    async close() {
      await finish();
      closeFiles();
      await db.destroy();
    },
  };
}

/**
 * Creates missing tables, on a separate connection without timeouts, one process at a time.
 * @returns `search_path` with only the schema of the tables
 */
async function makeTables(
  { url, connectMs, program, notice = () => {} }: PostgresOptions,
  nowMs: UnixMs,
  schema: SchemaParts,
): Promise<string> {
  const db = builderOn(openPool({ url, max: 1, statementMs: 0, connectMs }));
  try {
    return await postgresDriver(db).transact(function* () {
      const searchPath = yield* ownSchema(notice);
      yield sql`select pg_advisory_xact_lock(${MIGRATION_LOCK})`;
      yield* bringUpToDate({ kind: 'postgres', name: 'the database', nowMs }, schema, program);
      return searchPath;
    });
  } catch (error) {
    if (GatewayError.is(error) && !isAway(error)) throw error;
    throw new GatewayError('internal', `the database at database_url cannot be used: ${reasonOf(error)}`, {
      cause: error,
    });
  } finally {
    await db.destroy();
  }
}

/** Builds queries, and runs them on the connections of a pool. */
function builderOn(pool: PostgresPool): Kysely<never> {
  return new Kysely<never>({ dialect: new PostgresDialect({ pool }) });
}
