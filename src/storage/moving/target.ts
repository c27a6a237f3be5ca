// The PostgreSQL database that a data directory is moved to. It must be empty, and is reserved for the move until its
// end. The progress is stored in the transaction of each piece, so that an interrupted move can continue.
import { sql } from 'kysely';
import { GatewayError } from '../../canonical/index.ts';
import type { FindingStore, BlobStore } from '../../accounts/ports/index.ts';
import { checkSecrets } from '../master-secrets.ts';
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

export interface PartProgress {
  /** Key of the last row, as JSON. */
  readonly cursor: string;
  readonly rows: number;
}

export interface Progress {
  /** Identity of the data directory. */
  readonly from: string;
  /** Rows by part at the beginning of the move. If they differ later, the source has changed. */
  readonly totals: Readonly<Record<string, number>>;
  readonly parts: Readonly<Record<string, PartProgress>>;
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
 * Progress of a move. Read-only.
 * @param from identity of the data directory
 * @param totals current rows by part
 * @returns null if this directory has been moved completely
 * @throws GatewayError `conflict` if the database holds other data, or the directory has changed since the move began
 */
export async function progressOf(
  { ask }: Database,
  from: string,
  totals: Progress['totals'],
): Promise<Progress | null> {
  if ((await ask(() => settingOf(MOVED))) === from) return null;
  const begun = await ask(() => settingOf(MOVING));
  if (begun === undefined) {
    await ask(refuseFilled);
    return { from, totals, parts: {} };
  }
  const progress = JSON.parse(begun) as Progress;
  if (progress.from !== from)
    throw refused('another data directory is being moved to this database. Use a separate database.');
  const changed = Object.keys(totals).filter((part) => totals[part] !== progress.totals[part]);
  if (changed.length > 0)
    throw refused(
      `the data directory has changed since the move started (${changed.join(', ')}). Start again with an empty database.`,
    );
  return progress;
}

/** Reserves the database for the move. */
export function beginMove({ ask }: Database, progress: Progress): Promise<void> {
  return ask(() => addSetting(MOVING, JSON.stringify(progress)));
}

/**
 * Stores the progress in the transaction of a piece.
 * @throws GatewayError `conflict` if another process did so as well
 */
export function* noteProgress(before: Progress, after: Progress): Queries<void> {
  const noted = yield sql`
    update settings set value = ${JSON.stringify(after)}
    where name = ${MOVING} and value = ${JSON.stringify(before)} returning name`;
  if (noted.length !== 1) throw refused('another process is moving the same data directory');
}

/** Ends the move: sets sequences to continue after the moved rows, and releases the database for use. */
export async function endMove({ transact }: Database, { from }: Progress): Promise<void> {
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
