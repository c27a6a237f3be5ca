// Backups that somebody altered who can write their checksums, too: what `verify` and `restore` read, run and write then.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Client } from 'pg';
import { backUpDatabase, restoreDatabase } from '../../src/storage/backup/database.ts';
import { backUpDirectory, restoreDirectory, verifyBackup } from '../../src/storage/backup/directory.ts';
import { openSource } from '../../src/storage/moving/move.ts';
import { openWith } from '../../src/storage/postgres/storage.ts';
import { POSTGRES_STORES } from '../../src/storage/tables/stores.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/storage.ts';
import { rejection } from '../support/rejection.ts';
import { freshPostgres, POSTGRES_PROGRAMS } from '../support/servers/postgres.ts';

let home: string;
let backup: string;
let to: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'dragoman-backups-'));
  backup = join(home, 'backup');
  to = join(home, 'restored');
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

async function makeBackup(): Promise<void> {
  const dataDir = join(home, 'data');
  await (await openSqliteStorage({ path: join(dataDir, 'dragoman.db') })).close();
  await backUpDirectory(dataDir, backup, 0);
}

/** Writes a file of the backup. */
function put(file: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(backup, file)), { recursive: true });
  writeFileSync(join(backup, file), content);
}

/** Writes the checksums anew: of all files that are there, and of paths that are named. */
function seal(also: readonly string[] = [], except: readonly string[] = []): void {
  const files = readdirSync(backup, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'SHA256SUMS')
    .map((entry) => join(entry.parentPath, entry.name).slice(backup.length + 1));
  const lines = [...files, ...also]
    .filter((file) => !except.includes(file))
    .map((file) => {
      const path = join(backup, file);
      const bytes = existsSync(path) && statSync(path).isFile() ? readFileSync(path) : '';
      return `${createHash('sha256').update(bytes).digest('hex')}  ${file}\n`;
    });
  put('SHA256SUMS', lines.join(''));
}

function change(change_: (manifest: Record<string, unknown>) => void): void {
  const manifest = JSON.parse(readFileSync(join(backup, 'backup.json'), 'utf8')) as Record<string, unknown>;
  change_(manifest);
  put('backup.json', JSON.stringify(manifest));
  seal();
}

async function refusalOf(work: () => Promise<unknown>): Promise<string> {
  const error: unknown = await work().then(
    () => 'nothing was refused',
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ kind: 'conflict' });
  return error instanceof Error ? error.message : String(error);
}

const ATTACKS: readonly (readonly [title: string, alter: () => void, says: string])[] = [
  [
    'a link to a folder',
    () => {
      mkdirSync(join(home, 'secret'));
      writeFileSync(join(home, 'secret', 'key'), 'of the operator');
      symlinkSync(join(home, 'secret'), join(backup, 'files'));
      seal(['files/key']);
    },
    'files is a link or a device',
  ],
  [
    'a database that is a link',
    () => {
      rmSync(join(backup, 'dragoman.db'));
      symlinkSync('/etc/hostname', join(backup, 'dragoman.db'));
      seal(['dragoman.db']);
    },
    'dragoman.db is a link or a device',
  ],
  ['a path out of the folder', () => seal(['../secret']), '../secret is missing'],
  ['an absolute path', () => seal(['/etc/hostname']), '/etc/hostname is missing'],
  ['a device', () => seal(['../../../../../dev/zero']), 'dev/zero is missing'],
  [
    'a log that SQLite would play into the database',
    () => {
      put('dragoman.db-wal', 'pages');
      seal();
    },
    'dragoman.db-wal does not belong to the backup',
  ],
  [
    'a file without a checksum',
    () => {
      put('files/ab/file_ab', 'content');
      seal([], ['files/ab/file_ab']);
    },
    'files/ab/file_ab is not in SHA256SUMS',
  ],
  ['an invalid checksum line', () => put('SHA256SUMS', 'x'.repeat(100_000)), 'has an invalid line'],
  ['a manifest that is not JSON', () => (put('backup.json', '{'), seal()), 'has no form'],
  ['a list as a manifest', () => (put('backup.json', '[]'), seal()), 'has no form'],
  [
    'a manifest that is too large',
    () => (put('backup.json', ' '.repeat(17_000_000)), seal()),
    'backup.json is too large',
  ],
  ['another form of another program', () => change((manifest) => (manifest['format'] = 2)), 'has format 2'],
  [
    'a program that a terminal obeys',
    () =>
      change((manifest) => {
        manifest['format'] = 2;
        manifest['program'] = '\u001B]0;owned\u0007';
      }),
    'no program',
  ],
  ['an invalid time', () => change((manifest) => (manifest['madeAt'] = 1e300)), '`madeAt` of backup.json'],
  [
    'huge counts',
    () => change((manifest) => (manifest['rows'] = { settings: 1e300 })),
    '`rows` of backup.json',
  ],
  [
    'counts that are too many',
    () => change((manifest) => (manifest['rows'] = { settings: 1e9 })),
    'instead of 1000000000',
  ],
  ['no counts', () => change((manifest) => delete manifest['rows']), '`rows` of backup.json'],
  [
    'an invalid database',
    () => (put('dragoman.db', 'SQLite format 3\0'.padEnd(5000, 'x')), seal()),
    'the database is damaged',
  ],
  [
    'a truncated database',
    () => (put('dragoman.db', readFileSync(join(backup, 'dragoman.db')).subarray(0, 9000)), seal()),
    'damaged',
  ],
];

test.each(ATTACKS)(
  'a backup of a data directory with %s is refused, and nothing is written',
  async (_, alter, says) => {
    await makeBackup();
    await verifyBackup(backup);
    alter();
    for (const work of [() => verifyBackup(backup), () => restoreDirectory(backup, to)])
      expect(await refusalOf(work)).toContain(says);
    expect(existsSync(to)).toBe(false);
  },
);

test.each(['no database at all'.padEnd(5000, 'x'), 'SQLite format 3\0'.padEnd(5000, 'x')])(
  'every command that reads a damaged database reports it in a sentence: %#',
  async (content) => {
    const dataDir = join(home, 'data');
    mkdirSync(dataDir, { mode: 0o700 });
    writeFileSync(join(dataDir, 'dragoman.db'), content, { mode: 0o600 });
    expect(await refusalOf(() => backUpDirectory(dataDir, backup, 0))).toContain('the database is damaged');
    const moved = await rejection(openSource({ dataDir, secrets: [], notice: () => {} }));
    expect(moved).toMatchObject({ kind: 'internal', message: expect.stringContaining('cannot be used') });
  },
);

describe.skipIf(POSTGRES_PROGRAMS === null)('a backup of a PostgreSQL database', () => {
  test('runs no statement from its files and unpacks no broken rows', async () => {
    const from = await freshPostgres();
    await (await openWith(POSTGRES_STORES, { url: from })).close();
    await backUpDatabase(from, backup, 0);
    const target = await freshPostgres();
    const restore = () => restoreDatabase(backup, target);
    const genuine = readFileSync(join(backup, 'backup.json'), 'utf8');
    const partitions = (JSON.parse(genuine) as { partitions: string[] }).partitions;
    expect(partitions.length).toBeGreaterThan(0);
    for (const statement of [
      'create table planted (a int)',
      `${partitions[0]}; create table planted (a int)`,
      "create table if not exists planted partition of records FOR VALUES FROM ('\\x00') TO ((select 'x'))",
    ]) {
      change((manifest) => (manifest['partitions'] = [...partitions, statement]));
      expect(await refusalOf(restore)).toContain('`partitions` of backup.json');
    }
    put('backup.json', genuine);
    const rows = join('tables', 'schema_version.jsonl.gz');
    const kept = readFileSync(join(backup, rows));
    for (const [content, says] of [
      [kept.subarray(0, -10), 'cannot be decompressed'],
      ['{}', 'cannot be decompressed'],
      [gzipSync('x'.repeat(1000)), 'rejected rows of schema_version'],
      [gzipSync(''), 'has 0 rows'],
    ] as const) {
      put(rows, content);
      seal();
      expect(await refusalOf(restore)).toContain(says);
    }
    put(rows, kept);
    put('tables/../../planted.jsonl.gz', kept);
    put('tables/planted.sh', 'x');
    seal();
    expect(await refusalOf(restore)).toContain('tables/planted.sh does not belong to the backup');
    rmSync(join(backup, 'tables', 'planted.sh'));
    seal();
    await restore();
    const client = new Client({ connectionString: target });
    await client.connect();
    const { rows: planted } = await client.query(`select 1 from pg_class where relname = 'planted'`);
    expect(planted).toEqual([]);
    await client.end();
  });
});
