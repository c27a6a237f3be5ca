// Backs up and restores a data directory while a gateway runs on it. SQLite itself copies the database, without blocking.
// Journals are copied first, so that entries that leave them in the meantime are in the copy of the database.
import { chmodSync, copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import { inspectSqlite, openSqlite } from '../../base/runtime/sqlite.ts';
import { PROGRAM } from '../tables/schema.ts';
import { quoted } from '../tables/table.ts';
import { filesIn, type Manifest, makeFolder, refused, seal, verified } from './sums.ts';
import type { UnixMs } from '../../base/units.ts';
import { errorCode, errorText } from '../../base/lib/errors.ts';

const DATABASE = 'dragoman.db';
/** Other files that are backed up. Files of running processes, and files that can be recreated, are not. */
const FILES = ['secret.key', 'capabilities.json', 'catalog.json'];
/** Folders of files that are never changed after they are written. */
const FOLDERS = ['files', 'files-to-send'];
/** Folder of append-only files. */
const JOURNALS = 'journal';

export interface BackedUp {
  /** Total bytes of all files. */
  readonly bytes: number;
  readonly rows: Manifest['rows'];
}

/** Backs up a data directory. @throws GatewayError `conflict` if there is no database, or the folder is not empty */
export async function backUpDirectory(dataDir: string, folder: string, nowMs: UnixMs): Promise<BackedUp> {
  const database = join(dataDir, DATABASE);
  if (!existsSync(database)) throw refused(TEXTS.noDatabase(dataDir));
  makeFolder(folder);
  copyFolder(dataDir, folder, JOURNALS);
  for (const name of FOLDERS) copyFolder(dataDir, folder, name);
  copyDatabase(database, join(folder, DATABASE));
  chmodSync(join(folder, DATABASE), 0o600);
  // Copies files that were added while the database was copied.
  for (const name of FOLDERS) copyFolder(dataDir, folder, name);
  for (const name of FILES) copy(join(dataDir, name), join(folder, name));
  const { rows, schemaVersion } = inspected(join(folder, DATABASE));
  const manifest = { program: PROGRAM, database: 'sqlite', schemaVersion, madeAt: nowMs, rows } as const;
  return { bytes: await seal(folder, { ...manifest, partitions: [] }), rows };
}

/**
 * Restores a backup into a data directory without a database. Can be repeated after a crash, because the database comes last.
 * @throws GatewayError `conflict` if the backup is damaged or of PostgreSQL, or a database exists
 */
export async function restoreDirectory(folder: string, dataDir: string): Promise<Manifest> {
  const manifest = await verifyBackup(folder);
  if (manifest.database !== 'sqlite')
    throw refused('this is a backup of a PostgreSQL database; restore it with `database_url`');
  if (existsSync(join(dataDir, DATABASE)))
    throw refused(
      `${dataDir} already contains a database. Stop the gateway and move the directory away, or use another one (--data-dir DIR).`,
    );
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const files = filesIn(folder).filter((file) => file !== DATABASE && file !== 'backup.json');
  for (const file of files) copy(join(folder, file), join(dataDir, file));
  const draft = join(dataDir, `${DATABASE}.part`);
  copy(join(folder, DATABASE), draft);
  renameSync(draft, join(dataDir, DATABASE));
  return manifest;
}

/**
 * Verifies a backup of either database: the checksum of each file, and the integrity of an SQLite database.
 * @throws GatewayError `conflict`
 */
export async function verifyBackup(folder: string): Promise<Manifest> {
  const manifest = await verified(folder);
  if (manifest.database === 'sqlite') {
    const { rows } = inspected(join(folder, DATABASE));
    const wrong = Object.keys(manifest.rows).find((table) => rows[table] !== manifest.rows[table]);
    if (wrong !== undefined) throw refused(TEXTS.damagedRows(wrong, rows[wrong], manifest.rows[wrong]));
  }
  return manifest;
}

/** @throws GatewayError `conflict` for a database that is damaged */
function copyDatabase(from: string, to: string): void {
  try {
    const connection = openSqlite(from, 10_000);
    try {
      connection.prepare('vacuum into ?').run(to);
    } finally {
      connection.close();
    }
  } catch (error) {
    throw damaged(error);
  }
}

function damaged(error: unknown): GatewayError {
  return refused(`the database is damaged: ${errorText(error)}`);
}

/** @throws GatewayError `conflict` for a database that is damaged */
function inspected(path: string): { readonly rows: Record<string, number>; readonly schemaVersion: number } {
  const database = inspectSqlite(path);
  try {
    const [check] = database.all('pragma integrity_check');
    const said = String(Object.values(check ?? {})[0]);
    if (said !== 'ok') throw refused(`the database is damaged: ${said}`);
    const tables = database
      .all("select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name")
      .map(({ name }) => String(name));
    const count = (table: string): number =>
      Number(database.all(`select count(*) as rows from ${quoted(table)}`)[0]?.['rows']);
    const version = database.all('select max(version) as version from schema_version')[0]?.['version'];
    return {
      rows: Object.fromEntries(tables.map((table) => [table, count(table)])),
      schemaVersion: Number(version),
    };
  } catch (error) {
    if (GatewayError.is(error)) throw error;
    throw damaged(error);
  } finally {
    database.close();
  }
}

/** Copies missing files of a folder, recursively. */
function copyFolder(from: string, to: string, name: string): void {
  if (!existsSync(join(from, name))) return;
  for (const file of filesIn(join(from, name)))
    if (!existsSync(join(to, name, file))) copy(join(from, name, file), join(to, name, file));
}

/** Copies a file, readable only by its owner. Does nothing if it no longer exists. */
function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  try {
    copyFileSync(from, to);
    chmodSync(to, 0o600);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}
