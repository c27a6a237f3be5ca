// The PostgreSQL database that a data directory is moved to. It must be empty, and is reserved for the move until its
// end.
import { sql } from 'kysely';
import { GatewayError } from '../../canonical/index.ts';
import type { FindingStore, BlobStore } from '../../accounts/ports/index.ts';
import { checkSecrets } from '../secrets/master-secrets.ts';
import { MOVING, openWith } from '../postgres/storage.ts';
import type { Database, Queries, SharedDatabase } from '../tables/database.ts';
import { addSetting, settingOf } from '../tables/installation/settings.ts';
import { POSTGRES_STORES } from '../tables/stores.ts';
import { rowColumn } from '../tables/table.ts';
import { MOVED_TABLES } from './tables.ts';

/** Setting with the identity of the moved data directory, once the move is complete. */
const MOVED = 'moved_from';
/** Additional tables that must be empty. */
const OTHER_TABLES: readonly string[] = ['blobs', 'doctor_findings'];
/** Enough for a piece of large rows on a slow disk. */
const STATEMENT_MS = 120_000;

/** A move that has begun. */
interface Begun {
  /** Identity of the data directory. */
  readonly from: string;
  /** Rows by part at the beginning of the move. If they differ later, the source has changed. */
  readonly totals: Readonly<Record<string, number>>;
}

export interface Target {
  readonly database: Database;
  readonly blobs: BlobStore;
  readonly findings: FindingStore;
  close(): Promise<void>;
}

/** @throws GatewayError `internal`; `invalid_request` for an invalid URL */
export async function openTarget(url: string, notice: (sentence: string) => void): Promise<Target> {
  const { database, ...storage } = await openWith(
    { ...POSTGRES_STORES, database: { open: (own: SharedDatabase) => own } },
    { url, notice, statementMs: STATEMENT_MS, connections: 3 },
  );
  return { database, blobs: storage.blobs, findings: storage.findings, close: () => storage.close() };
}

/**
 * Checks whether a directory can be moved, without writing anything.
 * @returns false if it has been moved completely
 * @throws GatewayError `conflict` if the database holds other data, or the directory has changed since the move began
 */
export async function mayMove({ ask }: Database, { from, totals }: Begun): Promise<boolean> {
  if ((await ask(() => settingOf(MOVED))) === from) return false;
  const moving = await ask(() => settingOf(MOVING));
  if (moving === undefined) {
    await ask(refuseFilled);
    return true;
  }
  const begun = JSON.parse(moving) as Begun;
  if (begun.from !== from)
    throw refused('another data directory is being moved to this database. Use a separate database.');
  const changed = Object.keys(totals).filter((part) => totals[part] !== begun.totals[part]);
  if (changed.length > 0)
    throw refused(
      `the data directory has changed since the move started (${changed.join(', ')}). Start again with an empty database.`,
    );
  return true;
}

/** Same as `mayMove`, and reserves the database for the move. */
export async function beginMove(database: Database, move: Begun): Promise<boolean> {
  if (!(await mayMove(database, move))) return false;
  await database.ask(() => addSetting(MOVING, JSON.stringify(move)));
  // Another directory may have reserved it in the meantime.
  return mayMove(database, move);
}

/** Ends the move: sets sequences to continue after the moved rows, and releases the database for use. */
export async function endMove({ transact }: Database, from: string): Promise<void> {
  await transact(function* () {
    for (const declared of MOVED_TABLES)
      if (rowColumn(declared) !== undefined)
        yield sql`
          select setval(pg_get_serial_sequence(${declared.name}, 'row'), m.last) from
          (select max("row") as last from ${sql.table(declared.name)}) m where m.last is not null`;
    yield sql`delete from settings where name = ${MOVING}`;
    yield* addSetting(MOVED, from);
  });
}

/**
 * Copies the fingerprints of the data directory's secrets, and checks that a secret of the target is among them.
 * @param fingerprints fingerprints of the data directory
 * @throws GatewayError `internal` if none is
 */
export function* moveFingerprints(
  fingerprints: readonly string[],
  masters: readonly Uint8Array[],
): Queries<void> {
  for (const value of fingerprints) yield* addSetting(`secret_fingerprint:${value}`, value);
  yield* checkSecrets(masters, '`secret`');
}

function* refuseFilled(): Queries<void> {
  for (const table of [...MOVED_TABLES.map(({ name }) => name), ...OTHER_TABLES]) {
    const rows = yield sql`select 1 from ${sql.table(table)} limit 1`;
    if (rows.length > 0)
      throw refused(
        `the database is not empty (it contains ${table}). Use an empty database, or an empty schema (?options=-c%20search_path%3Dname).`,
      );
  }
}

function refused(message: string): GatewayError {
  return new GatewayError('conflict', message);
}
