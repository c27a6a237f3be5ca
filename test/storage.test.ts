// The SQLite storage through its ports: ledger, keys, sealed turns, secrets, migrations.
import { expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Kysely } from 'kysely';
import { openSqlite } from '../src/runtime/sqlite.ts';
import { GroupCommit } from '../src/storage/sqlite/group-commit.ts';
import { migrate } from '../src/storage/migrate.ts';
import { MIGRATIONS } from '../src/storage/sqlite/migrations.ts';
import type { StoredKey } from '../src/storage/ports.ts';
import type { Schema } from '../src/storage/sqlite/schema.ts';
import { sqliteDialect } from '../src/storage/sqlite/dialect.ts';
import { openSqliteStorage } from '../src/storage/sqlite/storage.ts';
import { rejection } from './rejection.ts';
import { someEntry } from './audit-entries.ts';
import { freshPath, lookingClock } from './storage-directory.ts';
import { attempt, COST, generation, storedResponse, USAGE } from './storage-records.ts';

const KEY: StoredKey = {
  id: 'key_1',
  name: 'laptop',
  hash: 'aa',
  hint: 'sk…1234',
  createdAt: 1,
  expiresAt: null,
  revokedAt: null,
  models: ['openai/*'],
  logContent: true,
  strict: true,
  routing: { only: ['openai'], max_price: { prompt: 3 } },
  projectId: 'search',
  roles: ['models', 'admin'],
  limits: [{ requests: 60, per: 'minute', models: ['openai/*'] }],
  budgets: [{ usd: 5, per: 'day' }],
  previous: { hash: 'bb', until: 9 },
  updatedAt: 2,
  version: 3,
};

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

test('a generation and its attempts come back as they were written', async () => {
  const storage = await openSqliteStorage({ path: ':memory:' });
  const error = { kind: 'rate_limited', message: 'slow down', upstreamStatus: 429 } as const;
  const whole = generation('gen-1', {
    attempts: 2,
    content: { request: { messages: ['hi'] }, answer: { text: 'ho' } },
  });
  const attempts = [
    attempt('att-1', 'gen-1', {
      outcome: 'failed',
      status: 429,
      upstreamId: null,
      firstContentAt: null,
      usage: null,
      cost: null,
      error,
    }),
    attempt('att-2', 'gen-1', {
      ordinal: 1,
      provider: 'azure',
      usage: { ...USAGE, estimated: true },
      cost: { ...COST, usd: null },
    }),
  ];
  storage.ledger.append(whole, attempts);
  expect(await storage.ledger.find('gen-1', 'key_a')).toEqual({ generation: whole, attempts });

  const bare = generation('gen-2', {
    model: null,
    provider: null,
    endpoint: null,
    lane: null,
    streamed: false,
    firstContentAt: null,
    status: 404,
    finishReason: null,
    nativeFinishReason: null,
    cancelled: true,
    attempts: 0,
    usage: null,
    cost: null,
    report: [],
    metadata: null,
    error,
  });
  storage.ledger.append(bare, []);
  expect(await storage.ledger.find('gen-2', 'key_a')).toEqual({ generation: bare, attempts: [] });

  // The usual case, in which one object serves as the usage of both.
  storage.ledger.append(generation('gen-3'), [attempt('att-3', 'gen-3')]);
  expect((await storage.ledger.find('gen-3', 'key_a'))?.attempts[0]).toEqual(attempt('att-3', 'gen-3'));
  await storage.close();
});

test("another key's generation is not found", async () => {
  const storage = await openSqliteStorage({ path: ':memory:' });
  storage.ledger.append(generation('gen-1'), []);
  expect(await storage.ledger.find('gen-1', 'key_b')).toBeNull();
  expect(await storage.ledger.find('gen-0', 'key_a')).toBeNull();
  await storage.close();
});

test('writing an id again changes nothing', async () => {
  const storage = await openSqliteStorage({ path: ':memory:' });
  storage.ledger.append(generation('gen-1'), [attempt('att-1', 'gen-1')]);
  storage.ledger.append(generation('gen-1', { status: 500 }), [attempt('att-1', 'gen-1', { status: 500 })]);
  const found = await storage.ledger.find('gen-1', 'key_a');
  expect(found?.generation.status).toBe(200);
  expect(found?.attempts.map((a) => a.status)).toEqual([200]);
  await storage.close();
});

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

test('a batch waits for another turn while more writes come', async () => {
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

test('a record that cannot be written fails alone', async () => {
  const storage = await openSqliteStorage({ path: ':memory:' });
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  const bad = generation('gen-2', { content: { request: circular as never, answer: null } });
  storage.ledger.append(generation('gen-1'), []);
  expect(() => storage.ledger.append(bad, [])).toThrow('the record gen-2 cannot be written');
  expect(await storage.ledger.find('gen-1', 'key_a')).not.toBeNull();
  await storage.close();
});

test('a failed transaction is tried once more, then rejects', async () => {
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

test('records are taken while the database is locked, and found when it is not any more', async () => {
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

test('a purge deletes a bounded number at a time', async () => {
  const storage = await openSqliteStorage({ path: ':memory:', elapsedMs: lookingClock(0.05) });
  const { vault } = storage;
  await vault.put(
    Array.from({ length: 1_201 }, (_, i) => ({
      projectId: 'k',
      callId: `c${i}`,
      sealed: Uint8Array.of(1),
      expiresAt: i,
    })),
  );
  let purges = 0;
  while ((await vault.purge(5_000)) > 0) purges += 1;
  expect(purges).toBeGreaterThan(1);
  expect((await vault.get('k', ['c0', 'c1200'], -1)).size).toBe(0);
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
    message: expect.stringContaining('is not the one'),
  });
  writeFileSync(file, 'no hex');
  expect(await rejection(attemptSecret())).toMatchObject({ message: expect.stringContaining('damaged') });
});

test('two processes that start together agree on the tables and the secret', async () => {
  const path = freshPath();
  const script = join(import.meta.dir, 'processes', 'print-secret.ts');
  const children = [1, 2].map(() =>
    Bun.spawn([process.execPath, script, path], { stdout: 'pipe', stderr: 'inherit' }),
  );
  const [a, b] = await Promise.all(children.map((child) => new Response(child.stdout).text()));
  expect(await Promise.all(children.map((child) => child.exited))).toEqual([0, 0]);
  expect(a).toMatch(/^[0-9a-f]{64}\n$/);
  expect(b).toBe(a as string);
});

test('keys of a database from before routing defaults have none', async () => {
  const path = freshPath();
  mkdirSync(dirname(path), { recursive: true });
  const database = openSqlite(path);
  await migrate(new Kysely<Schema>({ dialect: sqliteDialect(database) }), path, 0, MIGRATIONS.slice(0, 1));
  database.exec(
    "insert into keys (id, name, hash, hint, created_at, log_content) values ('key_1', 'old', 'aa', '…', 1, 0)",
  );
  database.close();
  const storage = await openSqliteStorage({ path });
  expect(await storage.keys.find(KEY.id)).toMatchObject({
    name: 'old',
    routing: null,
    strict: null,
    projectId: null,
    roles: ['models'],
    version: 1,
  });
  await storage.close();
});

test('later migrations run once, in order, and keep what is there', async () => {
  const path = freshPath();
  const old = await openSqliteStorage({ path });
  old.ledger.append(generation('gen-1'), []);
  await old.close();
  const ran: string[] = [];
  const step = (name: string) => ({ name, up: async () => void ran.push(name) });
  const migrations = [...MIGRATIONS, step('second'), step('third')];
  for (let start = 0; start < 2; start++) {
    const storage = await openSqliteStorage({ path, migrations });
    expect(await storage.ledger.find('gen-1', 'key_a')).not.toBeNull();
    await storage.close();
  }
  expect(ran).toEqual(['second', 'third']);
});

test('a migration that fails leaves the database as it was', async () => {
  const path = freshPath();
  await (await openSqliteStorage({ path })).close();
  const count = (): readonly unknown[] => {
    const database = openSqlite(path);
    const tables = ['schema_migrations', 'schema_additions', "sqlite_master where type = 'table'"];
    const found = tables.map((table) => database.prepare(`select count(*) as n from ${table}`).all());
    database.close();
    return found;
  };
  const before = count();
  const broken = {
    name: 'broken',
    up: async (db: Parameters<(typeof MIGRATIONS)[number]['up']>[0]) => {
      await db.schema.createTable('half_done').addColumn('id', 'text').execute();
      throw new Error('disk full');
    },
  };
  expect(await rejection(openSqliteStorage({ path, migrations: [...MIGRATIONS, broken] }))).toMatchObject({
    kind: 'internal',
  });
  expect(count()).toEqual(before);
});

test('a database of a newer program is refused with a clear message', async () => {
  const path = freshPath();
  await (
    await openSqliteStorage({ path, migrations: [...MIGRATIONS, { name: 'future', up: async () => {} }] })
  ).close();
  expect(await rejection(openSqliteStorage({ path }))).toMatchObject({
    kind: 'internal',
    message: expect.stringContaining('newer Dragoman'),
  });
});

test('a database of a newer program is opened where that has only added to it', async () => {
  const path = freshPath();
  const isAdditive = true;
  const column = async (db: Kysely<Schema>): Promise<void> =>
    db.schema.alterTable('keys').addColumn('from_the_future', 'text').execute();
  const migrations = [...MIGRATIONS, { name: 'future', up: column, isAdditive }];
  await (await openSqliteStorage({ path, migrations })).close();
  const older = await openSqliteStorage({ path });
  await older.keys.insert(KEY, someEntry());
  expect(await older.keys.find(KEY.id)).toEqual(KEY);
  await older.close();
  await (await openSqliteStorage({ path, migrations })).close();
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

test('a database whose tables are not ours is refused in one sentence that says what to do', async () => {
  const path = freshPath();
  await (await openSqliteStorage({ path })).close();
  const database = openSqlite(path);
  database.exec('alter table records rename column record to body');
  database.close();
  expect(await rejection(openSqliteStorage({ path }))).toMatchObject({
    kind: 'internal',
    message: expect.stringMatching(
      /dragoman\.db is not one that this program can use \(.*\): .*Start with another/,
    ),
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
  expect(plan('select * from records where key = 1 order by id desc limit 10')).toBe(
    plan('select * from records indexed by records_by_key where key = 1 order by id desc limit 10'),
  );
  expect(
    plan("select * from records where status = 402 and status != 200 and id > '' order by id limit 10"),
  ).toContain('records_by_status (status=? AND id>?)');
  expect(plan("select * from attempts where generation_id = 'a'")).toContain('(generation_id=?)');
  expect(plan('select rowid from vault where expires_at <= 5')).toContain('vault_by_expiry');
  database.close();
  await storage.close();
});
