// Backs up and restores a PostgreSQL database while gateways run on it: all tables of the schema in one snapshot. A row is a
// line of JSON, written and read by the server, so that no value is converted to another type.
import { once } from 'node:events';
import { createReadStream, createWriteStream, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type { PostgresPoolClient } from 'kysely';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import { openPool } from '../postgres/pool.ts';
import { openWith } from '../postgres/storage.ts';
import { PROGRAM } from '../tables/schema.ts';
import { POSTGRES_STORES } from '../tables/stores.ts';
import { quoted } from '../tables/table.ts';
import { type BackedUp, verifyBackup } from './directory.ts';
import { type Manifest, makeFolder, refused, seal } from './sums.ts';
import type { UnixMs } from '../../base/units.ts';
import { errorText } from '../../base/lib/errors.ts';

/** Approximate bytes that one statement reads or writes. */
const PIECE_BYTES = 4_000_000;
const MOST_ROWS = 2_000;
/** Largest row. No stored request is larger than some dozens of megabytes. */
const MOST_ROW_BYTES = 512_000_000;

/** Tables that have rows in an empty database. */
const NEVER_EMPTY: ReadonlySet<string> = new Set(['settings', 'schema_version', 'change_numbers']);

/** Backs up a database. @throws GatewayError `conflict` if the folder is not empty; 503 */
export async function backUpDatabase(url: string, folder: string, nowMs: UnixMs): Promise<BackedUp> {
  makeFolder(folder);
  mkdirSync(join(folder, 'tables'), { mode: 0o700 });
  return connected(url, async (client) => {
    // One snapshot of all tables, without waiting for other transactions.
    await client.query('begin isolation level repeatable read read only', []);
    const rows: Record<string, number> = {};
    for (const table of await tablesOf(client)) rows[table] = await writeTable(client, table, folder);
    const schemaVersion = await versionOf(client);
    const partitions = await partitionsOf(client);
    await client.query('commit', []);
    const manifest = { program: PROGRAM, database: 'postgres', schemaVersion, madeAt: nowMs, rows } as const;
    return { bytes: await seal(folder, { ...manifest, partitions }), rows };
  });
}

/**
 * Restores a backup into an empty database, in one transaction.
 * @throws GatewayError `conflict` if the backup is damaged, of SQLite or of another schema version, or the database is not
 * empty; 503
 */
export async function restoreDatabase(folder: string, url: string): Promise<Manifest> {
  const manifest = await verifyBackup(folder);
  if (manifest.database !== 'postgres')
    throw refused('this is a backup of a data directory; restore it without `database_url`');
  // Creates the tables of this program.
  await (await openWith(POSTGRES_STORES, { url })).close();
  await connected(url, async (client) => {
    await client.query('begin', []);
    const tables = await tablesOf(client);
    const version = await versionOf(client);
    if (version !== manifest.schemaVersion)
      throw refused(
        `the backup has schema version ${manifest.schemaVersion}, but this program uses version ${version}. Restore it with Dragoman ${manifest.program}, which created it, and then upgrade.`,
      );
    for (const table of tables.filter((name) => !NEVER_EMPTY.has(name))) {
      const { rows } = await client.query(`select 1 from ${quoted(table)} limit 1`, []);
      if (rows.length > 0)
        throw refused(
          `the database is not empty (it contains ${table}). Restore the backup to an empty database.`,
        );
    }
    await client.query(`truncate ${tables.map(quoted).join(', ')}`, []);
    for (const statement of manifest.partitions) await client.query(statement, []);
    for (const table of tables) await readTable(client, table, folder, manifest.rows[table] ?? 0);
    await client.query('commit', []);
  });
  return manifest;
}

async function connected<T>(url: string, work: (client: PostgresPoolClient) => Promise<T>): Promise<T> {
  const pool = openPool({ url, max: 1, statementMs: 0 });
  try {
    const client = await pool.connect();
    try {
      return await work(client);
    } finally {
      client.release();
    }
  } finally {
    await pool.end();
  }
}

/** Writes a table as lines of JSON. @returns number of rows */
async function writeTable(client: PostgresPoolClient, table: string, folder: string): Promise<number> {
  const zip = createGzip({ level: 3 });
  const file = createWriteStream(fileOf(folder, table), { mode: 0o600 });
  zip.pipe(file);
  await client.query(
    `declare piece no scroll cursor for select row_to_json(t)::text as line from ${quoted(table)} as t`,
    [],
  );
  let written = 0;
  for (let most = 20; ;) {
    const { rows } = await client.query<{ line: string }>(`fetch ${most} from piece`, []);
    if (rows.length === 0) break;
    const text = rows.map(({ line }) => `${line}\n`).join('');
    if (!zip.write(text)) await once(zip, 'drain');
    written += rows.length;
    most = rowsFor(rows.length, text.length);
  }
  await client.query('close piece', []);
  zip.end();
  await finished(file);
  return written;
}

/** Restores a table. @throws GatewayError `conflict` if its number of rows differs from the manifest */
async function readTable(
  client: PostgresPoolClient,
  table: string,
  folder: string,
  expected: number,
): Promise<void> {
  const path = fileOf(folder, table);
  if (!existsSync(path)) throw refused(`the backup is damaged: rows of ${table} are missing`);
  const name = quoted(table);
  await client.query(`alter table ${name} disable trigger user`, []);
  let read = 0;
  const write = async (lines: readonly string[]): Promise<void> => {
    const insert = `insert into ${name} overriding system value
       select * from json_populate_recordset(null::${name}, $1::json)`;
    await client.query(insert, [`[${lines.join(',')}]`]).catch((error: unknown) => {
      if (GatewayError.is(error)) throw error;
      const reason = errorText(error);
      throw refused(`the backup is damaged: the database rejected rows of ${table}: ${reason}`);
    });
    read += lines.length;
  };
  let lines: string[] = [];
  let bytes = 0;
  for await (const line of createInterface({ input: Readable.from(linesOf(path, table)) })) {
    lines.push(line);
    bytes += line.length;
    if (bytes < PIECE_BYTES && lines.length < MOST_ROWS) continue;
    await write(lines);
    lines = [];
    bytes = 0;
  }
  if (lines.length > 0) await write(lines);
  if (read !== expected) throw refused(TEXTS.damagedRows(table, read, expected));
  await client.query(`alter table ${name} enable trigger user`, []);
  // Sequences continue after the restored row numbers.
  const { rows } = await client.query<{ column: string }>(
    `select attname as column from pg_attribute where attrelid = to_regclass($1) and attidentity <> ''`,
    [name],
  );
  for (const { column } of rows)
    await client.query(
      `select setval(pg_get_serial_sequence($1, $2), m.last) from
       (select max(${quoted(column)}) as last from ${name}) as m where m.last is not null`,
      [name, column],
    );
}

/** Lines of a file. @throws GatewayError `conflict` if it is truncated, or a row is too large */
async function* linesOf(path: string, table: string): AsyncGenerator<Uint8Array> {
  let line = 0;
  const file = createReadStream(path);
  const zip = createGunzip();
  file.on('error', (error) => zip.destroy(error)).pipe(zip);
  try {
    for await (const bytes of zip as AsyncIterable<Buffer>) {
      const end = bytes.lastIndexOf(10);
      line = end < 0 ? line + bytes.length : bytes.length - end - 1;
      if (line > MOST_ROW_BYTES) throw refused(`the backup is damaged: a row of ${table} is too large`);
      yield bytes;
    }
  } catch (error) {
    if (GatewayError.is(error)) throw error;
    throw refused(`the backup is damaged: the rows of ${table} cannot be decompressed`);
  }
}

/** Estimates the number of rows per piece from the size of previous ones. */
function rowsFor(rows: number, bytes: number): number {
  return Math.max(1, Math.min(MOST_ROWS, Math.floor((PIECE_BYTES * rows) / Math.max(1, bytes))));
}

function fileOf(folder: string, table: string): string {
  return join(folder, 'tables', `${table}.jsonl.gz`);
}

/** Tables of the schema, without partitions. */
async function tablesOf(client: PostgresPoolClient): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
     where n.nspname = current_schema and relkind in ('r', 'p') and not relispartition
     order by relname`,
    [],
  );
  return rows.map(({ name }) => name);
}

/** Statements that create the existing partitions if they are missing. */
async function partitionsOf(client: PostgresPoolClient): Promise<readonly string[]> {
  const { rows } = await client.query<{ statement: string }>(
    `select format('create table if not exists %I partition of %I %s',
       c.relname, p.relname, pg_get_expr(c.relpartbound, c.oid)) as statement
     from pg_inherits as i join pg_class as c on c.oid = i.inhrelid join pg_class as p on p.oid = i.inhparent
     join pg_namespace as n on n.oid = p.relnamespace
     where c.relispartition and c.relkind = 'r' and n.nspname = current_schema order by c.relname`,
    [],
  );
  return rows.map(({ statement }) => statement);
}

async function versionOf(client: PostgresPoolClient): Promise<number> {
  const { rows } = await client.query<{ version: number }>(
    'select max(version) as version from schema_version',
    [],
  );
  return Number(rows[0]?.version);
}
