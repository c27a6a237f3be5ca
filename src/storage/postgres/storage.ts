// Opens a PostgreSQL database and hands out its stores. The only place that decides about connections and the start.
import { Kysely, PostgresDialect, sql } from 'kysely';
import { GatewayError } from '../../canonical/index.ts';
import { EntryKinds } from '../journal/entry-kinds.ts';
import { Indexer, type Later } from '../journal/indexer.ts';
import { Journal } from '../journal/journal.ts';
import { JournalFolder } from '../journal/journal-folder.ts';
import { migrate } from '../migrate.ts';
import type { Storage } from '../ports.ts';
import { NOTHING_RUNS, RunningFile } from '../running-file.ts';
import { checkSecrets, secretsFrom } from '../state/master-secrets.ts';
import { Breaker } from './breaker.ts';
import { isAway } from './failures.ts';
import { ConversationItems } from './conversation-items.ts';
import { LateTurns } from './late-turns.ts';
import { MIGRATIONS } from './migrations.ts';
import { listenTo, openPool } from './pool.ts';
import { PostgresEntryTarget } from './records/entry-target.ts';
import type { Migration, PostgresBase, PostgresSchema, PostgresStore } from './store.ts';
import { PostgresStateUsage } from './state-usage.ts';
import { openStores, type OpenStores, type PostgresStores, STORES } from './stores.ts';
import { inTransaction } from './transactions.ts';

export interface PostgresOptions {
  /** Address of the database, with its password: never printed. */
  readonly url: string;
  /** Master secrets, newest first, the same for all processes: the database keeps none of them. */
  readonly secrets?: readonly Uint8Array[] | undefined;
  /** Folder of this machine for what is known of requests that run; null: nothing is. */
  readonly running?: string | null | undefined;
  /** Unix milliseconds; for the record of migrations only. */
  readonly now?: (() => number) | undefined;
  /** The most that one project may store of responses, conversations, prompts and files; asked at every write. */
  readonly maxBytesPerKey?: (() => number) | undefined;
  /** The most connections of this process. */
  readonly connections?: number | undefined;
  /** After which the server gives a statement up. */
  readonly statementMs?: number | undefined;
  /** Where what is written waits for the database; null: in memory alone. */
  readonly spool?: string | null | undefined;
  /** The most that may wait there, in bytes. */
  readonly spoolBytes?: (() => number) | undefined;
  /** How long an answer may wait for the database, in milliseconds; null: it does not. */
  readonly confirmMs?: number | null | undefined;
  /** When to bring what waits into the database; a quarter of a second later by default. */
  readonly later?: Later | undefined;
  /** Told, in a sentence, of what cannot be read or is refused. */
  readonly notice?: ((sentence: string) => void) | undefined;
}

/** What a key may store unless somebody says otherwise: 1024 MB. */
const MAX_BYTES_PER_KEY = 1024 * 1_000_000;
/** Enough for what one process's processor can do; a hundred processes need a pooler between them and the server. */
const CONNECTIONS = 10;
/** State is read by an index in milliseconds: what takes longer is a database in trouble. */
const STATEMENT_MS = 5_000;
/** A server that answers no question at all within this time is out of reach. */
const PROBE_STATEMENT_MS = 1_000;
/** Nor is it waited for much longer when one is asked for that is lost on the way: the next one may arrive. */
const PROBE_CONNECT_MS = 2_000;
/** The most that waits for the database: about a quarter of a million records. */
const MAX_SPOOL_BYTES = 128_000_000;
/** How long a record may be in the spool alone, unless the database takes nothing. */
const INDEX_AFTER_MS = 250;
/** The setting that is there while a data directory is moved here. */
export const MOVING = 'moving';
/** Names the lock under which tables are made: any number that nobody else takes in this database. */
const MIGRATION_LOCK = 7_283_641_095_518_337;

/** What an installation has besides its stores. */
type Rest = Pick<Storage, 'running' | 'secret' | 'earlierSecrets' | 'close'>;

/**
 * Opens, migrates and returns the storage of one installation, for one of its processes.
 * @throws GatewayError `internal` when the database cannot be reached or belongs to a newer program
 */
export async function openPostgresStorage(options: PostgresOptions): Promise<Storage> {
  const { moving, ...storage } = await openWith({ ...STORES, moving: { open: isMoving } }, options);
  if (!(await moving())) return storage;
  await storage.close();
  throw new GatewayError(
    'internal',
    'a data directory is being moved to this database, or was and did not come to the end: run `dragoman migrate sqlite-to-postgres` to its end first',
  );
}

function isMoving({ db }: PostgresBase): () => Promise<boolean> {
  return async () => {
    const row = await db.selectFrom('settings').select('name').where('name', '=', MOVING).executeTakeFirst();
    return row !== undefined;
  };
}

/**
 * `openPostgresStorage` for a choice of stores.
 * @throws GatewayError `internal` when the database cannot be reached or belongs to a newer program
 */
export async function openWith<S extends PostgresStores>(
  kinds: S,
  options: PostgresOptions,
): Promise<OpenStores<S> & Rest> {
  const { secrets = [], url, connections = CONNECTIONS, statementMs = STATEMENT_MS } = options;
  const steps = [...MIGRATIONS, ...Object.values(kinds).flatMap(ownMigrations)];
  const now = options.now ?? Date.now;
  await bringUpToDate(url, now(), steps);
  const notice = options.notice ?? (() => {});
  const breaker = new Breaker({
    pool: openPool({ url, max: connections, statementMs }),
    probe: () => openPool({ url, max: 1, statementMs: PROBE_STATEMENT_MS, connectMs: PROBE_CONNECT_MS }),
    notice,
  });
  const db = new Kysely<PostgresSchema>({ dialect: new PostgresDialect({ pool: breaker }) });
  const transaction: PostgresBase['transaction'] = (work) => inTransaction(db, work);
  const folder = options.spool ? new JournalFolder(options.spool) : null;
  const files = folder?.own();
  const entries: PostgresBase['entries'] = new EntryKinds(notice);
  const indexer = new Indexer({
    journal: new Journal({
      next: files ? () => files.next() : null,
      maxBytes: options.spoolBytes ?? (() => MAX_SPOOL_BYTES),
      // Whoever waits for the database needs no disk.
      keepsUnwritten: typeof options.confirmMs === 'number',
    }),
    folder,
    target: new PostgresEntryTarget(entries, transaction, notice),
    later: options.later ?? soon,
    confirmMs: options.confirmMs,
    notice,
  });
  const usage = new PostgresStateUsage(db, options.maxBytesPerKey ?? (() => MAX_BYTES_PER_KEY));
  const items = new ConversationItems(db, usage);
  const listen: PostgresBase['listen'] = (...channel) => listenTo(url, ...channel);
  const base = { db, transaction, listen, breaker, indexer, entries, usage, items };
  const stores = openStores(kinds, { ...base, turns: new LateTurns(base) });
  await indexer.recover(now());
  await checkSecrets(db, secrets, 'the secret of the configuration');
  const running = options.running ? new RunningFile(options.running) : null;
  return {
    ...stores,
    running: running ?? NOTHING_RUNS,
    ...secretsFrom(async () => secrets),
    async close() {
      // What a database that is out of reach does not take now waits in the files for the next start.
      await indexer
        .finish()
        .catch((error: unknown) => notice(`records stay in the spool: ${reasonOf(error)}`));
      files?.close();
      running?.close();
      await db.destroy();
    },
  };
}

/** Does not keep the process alive: what is not done then is done by the next one. */
const soon: Later = (task) => void setTimeout(task, INDEX_AFTER_MS).unref();

/** Makes what is missing, one process after another, and without an end to their patience: on a connection of its own. */
async function bringUpToDate(url: string, nowMs: number, steps: readonly Migration[]): Promise<void> {
  const db = new Kysely<PostgresSchema>({
    dialect: new PostgresDialect({ pool: openPool({ url, max: 1, statementMs: 0 }) }),
  });
  try {
    await db.transaction().execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(${MIGRATION_LOCK})`.execute(tx);
      await migrate(tx, 'the database', nowMs, steps);
    });
  } catch (error) {
    if (GatewayError.is(error) && !isAway(error)) throw error;
    throw new GatewayError('internal', `the database of database_url cannot be used: ${reasonOf(error)}`, {
      cause: error,
    });
  } finally {
    await db.destroy();
  }
}

function ownMigrations({ migrations = [] }: PostgresStore<unknown>): readonly Migration[] {
  return migrations;
}

/** What the server or the system said: neither says the password. */
function reasonOf(error: unknown): string {
  const said = GatewayError.is(error) ? error.cause : error;
  return said instanceof Error ? said.message : String(said);
}
