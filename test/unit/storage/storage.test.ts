// The SQLite storage through its ports: ledger, keys, sealed turns, secrets, migrations.
import { expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { version } from '../../../package.json' with { type: 'json' };
import { openSqlite } from '../../../src/base/runtime/sqlite.ts';
import { GroupCommit } from '../../../src/storage/sqlite/group-commit.ts';
import { openSqliteStorage, openWith } from '../../../src/storage/sqlite/storage.ts';
import type { Store } from '../../../src/storage/tables/database.ts';
import { schemaOf, STATE_STORES } from '../../../src/storage/tables/stores.ts';
import { PROGRAM, type SchemaChange, versionOf } from '../../../src/storage/tables/schema.ts';
import { table } from '../../../src/storage/tables/table.ts';
import { KEY } from '../../contract/storage/samples.ts';
import { rejection } from '../../support/rejection.ts';
import { someEntry } from '../../support/storage/audit-entries.ts';
import { freshPath } from '../../support/storage/storage-directory.ts';
import { attempt, generation, storedResponse } from '../../support/storage/storage-records.ts';

/** A hand-turned event loop: what `schedule` was given, run on demand. */
function manualSchedule(): { schedule: (task: () => void) => void; turn: () => void; waiting: () => number } {
  let tasks: (() => void)[] = [];
  return {
    schedule: (task) => void tasks.push(task),
    waiting: () => tasks.length,
    turn: () => {
      const now = tasks;
      tasks = [];
      for (const task of now) task();
    },
  };
}

/** Writes of a database with nothing in it, whose event loop is turned by hand. */
function manualCommits(): {
  commits: GroupCommit;
  written: string[];
  add: (name: string) => Promise<void>;
} & ReturnType<typeof manualSchedule> {
  const loop = manualSchedule();
  const commits = new GroupCommit(openSqlite(':memory:'), loop.schedule);
  const written: string[] = [];
  return { ...loop, commits, written, add: (name) => commits.add(() => void written.push(name)) };
}

test('writes of one tick share a promise and a transaction', async () => {
  const { add, turn, waiting, written } = manualCommits();
  const first = add('a');
  expect(add('b')).toBe(first);
  await Promise.resolve();
  expect(written).toEqual([]);
  turn(); // none came after them
  await first;
  expect(written).toEqual(['a', 'b']);
  expect(waiting()).toBe(0);
});

test('a batch waits for another turn of the event loop while more writes arrive', async () => {
  const { add, turn, written } = manualCommits();
  const first = add('a');
  await Promise.resolve();
  void add('b');
  turn(); // one came after the first: wait for more
  expect(written).toEqual([]);
  turn(); // none came
  await first;
  expect(written).toEqual(['a', 'b']);
});

test('a lone write is made in the next turn, and a steady flow within eight', async () => {
  const { add, turn, written } = manualCommits();
  const lone = add('lone');
  await Promise.resolve();
  turn();
  await lone;
  const first = add('first');
  let turns = 0;
  while (!written.includes('first')) {
    turns += 1;
    await Promise.resolve();
    void add(`${turns}`);
    turn();
  }
  await first;
  expect(turns).toBe(8);
});

test('long transactions leave the copying of their pages to the next one, but only a few in a row', async () => {
  const path = freshPath();
  let lookMs = 0;
  let nowMs = 0;
  const storage = await openSqliteStorage({ path, elapsedMs: () => (nowMs += lookMs) });
  let puts = 0;
  const copiedAfterPut = async (): Promise<number> => {
    const input = [{ id: 'msg_1', type: 'message', content: 'a'.repeat(4_000_000) }];
    await storage.responses.put(storedResponse(`resp_${++puts}`, { input }));
    return Math.floor(statSync(path).size / 4_000_000);
  };
  expect(await copiedAfterPut()).toBe(1);
  lookMs = 20;
  expect(await copiedAfterPut()).toBe(1);
  lookMs = 0;
  expect(await copiedAfterPut()).toBe(3);
  lookMs = 20;
  while ((await copiedAfterPut()) === 3) expect(puts).toBeLessThan(10);
  await storage.close();
});

test('closing brings everything into the database', async () => {
  const path = freshPath();
  const storage = await openSqliteStorage({ path, schedule: () => {}, later: () => {} });
  storage.ledger.append(generation('gen-1'), []);
  const stored = storage.responses.put(storedResponse('resp_1'));
  await storage.close();
  await stored;
  expect(readdirSync(join(dirname(path), 'journal'))).toEqual([]);
  const again = await openSqliteStorage({ path });
  expect(await again.ledger.find('gen-1', 'key_a')).not.toBeNull();
  expect(await again.responses.find('key_a', 'resp_1', 0)).not.toBeNull();
  await again.close();
});

test('a failed transaction is repeated once, and then rejects', async () => {
  const path = freshPath();
  const loop = manualSchedule();
  const storage = await openSqliteStorage({ path, schedule: loop.schedule, busyTimeoutMs: 0 });
  const other = openSqlite(path);

  other.exec('begin immediate');
  const conversation = { projectId: 'key_a', createdAt: 0, expiresAt: null, metadata: {} };
  const saved = storage.conversations.create({ ...conversation, id: 'conv_1' }, []);
  await Promise.resolve();
  loop.turn();
  other.exec('rollback');
  loop.turn();
  await saved;
  expect(await storage.conversations.find('key_a', 'conv_1', 0)).not.toBeNull();

  other.exec('begin immediate');
  const failure = rejection(storage.conversations.create({ ...conversation, id: 'conv_2' }, []));
  await Promise.resolve();
  loop.turn();
  loop.turn();
  expect(await failure).toMatchObject({ kind: 'internal', message: 'the database could not be written' });
  other.exec('rollback');
  other.close();
  await storage.close();
});

test('records are accepted while the database is locked, and found when it is unlocked', async () => {
  const path = freshPath();
  const tasks: (() => void)[] = [];
  const storage = await openSqliteStorage({ path, busyTimeoutMs: 0, later: (task) => void tasks.push(task) });
  const other = openSqlite(path);
  other.exec('begin immediate');
  storage.ledger.append(generation('gen-1'), [attempt('att-1', 'gen-1')]);
  expect(await rejection(storage.ledger.find('gen-1', 'key_a'))).toMatchObject({ kind: 'internal' });
  tasks[0]?.();
  other.exec('rollback');
  other.close();
  expect((await storage.ledger.find('gen-1', 'key_a'))?.attempts.length).toBe(1);
  await storage.close();
});

test('secrets stay the same, differ by name, and are not in the database', async () => {
  const path = freshPath();
  const file = join(path, '..', 'secret.key');
  const first = await openSqliteStorage({ path });
  const pepper = await first.secret('pepper');
  expect(pepper.length).toBe(32);
  expect(await first.secret('vault')).not.toEqual(pepper);
  await first.close();
  const second = await openSqliteStorage({ path });
  expect(await second.secret('pepper')).toEqual(pepper);
  await second.close();

  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
  const database = readFileSync(path);
  expect(database.includes(Buffer.from(pepper))).toBe(false);
  expect(database.includes(readFileSync(file, 'utf8').trim())).toBe(false);
});

test('a lost, changed or damaged secret file is an error and is not replaced', async () => {
  const path = freshPath();
  const file = join(path, '..', 'secret.key');
  const storage = await openSqliteStorage({ path });
  await storage.secret('pepper');
  await storage.close();
  const attemptSecret = async (): Promise<Uint8Array> => {
    const again = await openSqliteStorage({ path });
    return again.secret('pepper').finally(() => again.close());
  };

  rmSync(file);
  expect(await rejection(attemptSecret())).toMatchObject({
    kind: 'internal',
    message: expect.stringContaining('is missing'),
  });
  expect(existsSync(file)).toBe(false);
  writeFileSync(file, 'ab'.repeat(32));
  expect(await rejection(attemptSecret())).toMatchObject({
    message: expect.stringContaining('does not match this database'),
  });
  writeFileSync(file, 'no hex');
  expect(await rejection(attemptSecret())).toMatchObject({ message: expect.stringContaining('damaged') });
});

test('two processes that start together agree on the tables and the secret', async () => {
  const path = freshPath();
  const script = join(import.meta.dir, '..', '..', 'crash', 'processes', 'print-secret.ts');
  const children = [1, 2].map(() =>
    Bun.spawn([process.execPath, script, path], { stdout: 'pipe', stderr: 'inherit' }),
  );
  const [a, b] = await Promise.all(children.map((child) => new Response(child.stdout).text()));
  expect(await Promise.all(children.map((child) => child.exited))).toEqual([0, 0]);
  expect(a).toMatch(/^[0-9a-f]{64}\n$/);
  expect(b).toBe(a as string);
});

/** The schema version of this program. */
const CURRENT = versionOf(schemaOf(STATE_STORES));

/** The stores of a program that brings a schema version of its own. */
const withChange = (change: Omit<SchemaChange, 'version'>, tables: Store<null>['tables'] = []) => ({
  ...STATE_STORES,
  newer: {
    tables,
    changes: [{ version: CURRENT + 1, ...change }],
    open: () => null,
  } satisfies Store<null>,
});

test('changes of the schema run once, in order, and keep existing data', async () => {
  const path = freshPath();
  const old = await openSqliteStorage({ path });
  old.ledger.append(generation('gen-1'), []);
  await old.keys.insert(KEY, someEntry());
  await old.close();
  const newer = {
    ...STATE_STORES,
    newer: {
      tables: [table({ name: 'toys', columns: { id: 'id' }, key: ['id'], since: CURRENT + 1 })],
      changes: [
        { version: CURRENT + 2, up: { sqlite: ['insert into toys select color from keys'] } },
        { version: CURRENT + 1, up: { sqlite: ["alter table keys add column color text default 'red'"] } },
      ],
      open: () => null,
    } satisfies Store<null>,
  };
  for (let start = 0; start < 2; start++) {
    const storage = await openWith(newer, { path });
    expect(await storage.ledger.find('gen-1', 'key_a')).not.toBeNull();
    await storage.close();
  }
  const database = openSqlite(path);
  expect(database.prepare('select * from toys').all()).toEqual([{ id: 'red' }]);
  expect(database.prepare('select version from schema_version order by version').all()).toEqual([
    { version: CURRENT },
    { version: CURRENT + 2 },
  ]);
  database.close();
});

test('a change of the schema that fails leaves the database as it was', async () => {
  const path = freshPath();
  await (await openSqliteStorage({ path })).close();
  const count = (): readonly unknown[] => {
    const database = openSqlite(path);
    const tables = ['schema_version', "sqlite_master where type = 'table'"];
    const found = tables.map((name) => database.prepare(`select count(*) as n from ${name}`).all());
    database.close();
    return found;
  };
  const before = count();
  const broken = withChange({
    up: { sqlite: ['create table half_done (id text)', 'insert into nowhere values (1)'] },
  });
  expect(await rejection(openWith(broken, { path }))).toMatchObject({ kind: 'internal' });
  expect(count()).toEqual(before);
});

test('the schema stores the version of this program', () => {
  expect(PROGRAM).toBe(version);
});

test('a program that is too old for a database is refused with the version to install', async () => {
  const path = freshPath();
  const changed = withChange({ oldestProgram: '99.1.0', up: {} });
  await (await openWith(changed, { path, program: '99.1.0' })).close();
  expect(await rejection(openSqliteStorage({ path, program: '99.0.9' }))).toMatchObject({
    kind: 'internal',
    message: expect.stringMatching(/requires Dragoman 99\.1\.0 or newer; this is Dragoman 99\.0\.9/),
  });
  // A later program that does not know the change goes on: the database says that it may.
  await (await openSqliteStorage({ path, program: '99.2.0-beta.1' })).close();
});

test('an older program continues if a newer one has only added to the database', async () => {
  const path = freshPath();
  const newer = withChange({ up: { sqlite: ['alter table keys add column from_the_future text'] } });
  await (await openWith(newer, { path })).close();
  const older = await openSqliteStorage({ path });
  await older.keys.insert(KEY, someEntry());
  expect(await older.keys.find(KEY.id)).toEqual(KEY);
  await older.close();
  await (await openWith(newer, { path })).close();
});

test('data from before the first schema version is refused with an instruction', async () => {
  const path = freshPath();
  mkdirSync(dirname(path), { recursive: true });
  const database = openSqlite(path);
  database.exec(
    'create table schema_migrations (version integer primary key, name text, applied_at integer)',
  );
  database.close();
  expect(await rejection(openSqliteStorage({ path }))).toMatchObject({
    kind: 'internal',
    message: expect.stringContaining('Start with an empty data directory'),
  });
});

test('a file that is no database is refused with its path', async () => {
  const path = freshPath();
  await (await openSqliteStorage({ path })).close();
  writeFileSync(path, 'this is not a database, but long enough to be taken for one'.repeat(50));
  expect(await rejection(openSqliteStorage({ path }))).toMatchObject({
    kind: 'internal',
    message: expect.stringContaining(path),
  });
});

test('a database with foreign tables is refused with an instruction', async () => {
  const path = freshPath();
  await (await openSqliteStorage({ path })).close();
  const database = openSqlite(path);
  database.exec('alter table responses rename column response to body');
  database.close();
  expect(await rejection(openSqliteStorage({ path }))).toMatchObject({
    kind: 'internal',
    message: expect.stringMatching(/dragoman\.db cannot be used \(.*\)\. .*Use another/),
  });
});

test('the files of the database are closed to others, also in a directory that is open', async () => {
  const path = freshPath();
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  const storage = await openSqliteStorage({ path });
  for (const file of [path, `${path}-wal`, `${path}-shm`]) expect(statSync(file).mode & 0o077).toBe(0);
  await storage.close();
});

test('the lookups use their indexes', async () => {
  const path = freshPath();
  const storage = await openSqliteStorage({ path });
  const database = openSqlite(path);
  const plan = (sql: string): string => JSON.stringify(database.prepare(`explain query plan ${sql}`).all());
  expect(plan("select id from records where end_user = 'a' order by id desc limit 10")).toContain(
    'records_by_end_user (end_user=?)',
  );
  expect(plan('select id from records where apart <> 0 and created_at < 5')).toContain('records_apart');
  const notOk = "select id from records where id >= x'00' and state <> 0 and state in (3) order by id desc";
  expect(plan(notOk)).toContain('COVERING INDEX records_others');
  expect(
    plan('select period from usage where span = 0 and period in (1, 2) and grp >= 3 and grp < 9'),
  ).toContain('(span=? AND period=? AND grp>? AND grp<?)');
  expect(plan('select rowid from vault where expires_at <= 5')).toContain('vault_by_expiry');
  expect(plan("select row from responses where key_id = 'a' order by expires_at, row limit 1")).not.toContain(
    'TEMP B-TREE',
  );
  expect(
    plan('select row from conversation_items where conversation_row = 1 and row > 5 order by row'),
  ).toContain('conversation_items_in_order (conversation_row=? AND rowid>?)');
  database.close();
  await storage.close();
});
