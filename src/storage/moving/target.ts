// The PostgreSQL database that a data directory is moved to. It must be empty, and is reserved for the move until its
// end. The progress is stored in the transaction of each piece, so that an interrupted move can continue.
import { sql } from 'kysely';
import { GatewayError } from '../../canonical/index.ts';
import type { FindingStore, BlobStore } from '../../accounts/ports/index.ts';
import { checkSecrets } from '../master-secrets.ts';
import { MOVING, openWith } from '../postgres/storage.ts';
import { STORES } from '../postgres/stores.ts';
import type { PostgresBase } from '../postgres/store.ts';
import type { Queries } from '../tables/database.ts';
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
  readonly base: PostgresBase;
  readonly blobs: BlobStore;
  readonly findings: FindingStore;
  close(): Promise<void>;
}

/** @throws GatewayError `internal`; `invalid_request` for an invalid URL */
export async function openTarget(url: string, notice: (sentence: string) => void): Promise<Target> {
  const { base, ...storage } = await openWith(
    { ...STORES, base: { open: (base: PostgresBase) => base } },
    { url, notice, statementMs: STATEMENT_MS, connections: 3 },
  );
  return { base, blobs: storage.blobs, findings: storage.findings, close: () => storage.close() };
}

/**
 * Progress of a move. Read-only.
 * @param from identity of the data directory
 * @param totals current rows by part
 * @returns null if this directory has been moved completely
 * @throws GatewayError `conflict` if the database holds other data, or the directory has changed since the move began
 */
export async function progressOf(
  { db }: PostgresBase,
  from: string,
  totals: Progress['totals'],
): Promise<Progress | null> {
  const settings = await db
    .selectFrom('settings')
    .select(['name', 'value'])
    .where('name', 'in', [MOVING, MOVED])
    .execute();
  const valueOf = (name: string): string | undefined =>
    settings.find((setting) => setting.name === name)?.value;
  if (valueOf(MOVED) === from) return null;
  const begun = valueOf(MOVING);
  if (begun === undefined) {
    await refuseFilled(db);
    return { from, totals, parts: {} };
  }
  const progress = JSON.parse(begun) as Progress;
  if (progress.from !== from)
    throw refused('another data directory is being moved to this database: it needs one of its own');
  const changed = Object.keys(totals).filter((part) => totals[part] !== progress.totals[part]);
  if (changed.length > 0)
    throw refused(
      `the data directory has changed since the move began (${changed.join(', ')}): begin again with an empty database`,
    );
  return progress;
}

/** Reserves the database for the move. */
export async function beginMove({ db }: PostgresBase, progress: Progress): Promise<void> {
  await db
    .insertInto('settings')
    .values({ name: MOVING, value: JSON.stringify(progress) })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * Stores the progress in the transaction of a piece.
 * @throws GatewayError `conflict` if another process did so as well
 */
export function* noteProgress(before: Progress, after: Progress): Queries<void> {
  const noted = yield sql`
    update settings set value = ${JSON.stringify(after)}
    where name = ${MOVING} and value = ${JSON.stringify(before)} returning name`;
  if (noted.length !== 1) throw refused('another process moves the same data directory just now');
}

/** Ends the move: sets sequences to continue after the moved rows, and releases the database for use. */
export async function endMove({ database }: PostgresBase, { from }: Progress): Promise<void> {
  await database.transact(function* () {
    for (const declared of MOVED_TABLES)
      if (rowColumn(declared) !== undefined)
        yield sql`
          select setval(pg_get_serial_sequence(${declared.name}, 'row'), m.last) from
          (select max("row") as last from ${sql.table(declared.name)}) m where m.last is not null`;
    yield sql`delete from settings where name = ${MOVING}`;
    yield sql`insert into settings (name, value) values (${MOVED}, ${from})`;
  });
}

/**
 * Copies the fingerprints of the data directory's secrets, and checks that a secret of the target is among them.
 * @param fingerprints fingerprints of the data directory
 * @throws GatewayError `internal` if none is
 */
export async function moveFingerprints(
  { db }: PostgresBase,
  fingerprints: readonly string[],
  masters: readonly Uint8Array[],
): Promise<void> {
  for (const value of fingerprints)
    await db
      .insertInto('settings')
      .values({ name: `secret_fingerprint:${value}`, value })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  await checkSecrets(db, masters, '`secret`');
}

async function refuseFilled(db: PostgresBase['db']): Promise<void> {
  for (const table of [...MOVED_TABLES.map(({ name }) => name), ...OTHER_TABLES]) {
    const { rows } = await sql`select 1 from ${sql.table(table)} limit 1`.execute(db);
    if (rows.length > 0)
      throw refused(
        `this database is not empty (there are ${table}): a data directory is moved to an empty one, or to an empty schema of one (?options=-c%20search_path%3Dname)`,
      );
  }
}

function refused(message: string): GatewayError {
  return new GatewayError('conflict', message);
}
