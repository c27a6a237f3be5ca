// `dragoman migrate sqlite-to-postgres`, as a person runs it: a data directory that a gateway has filled is moved, killed in
// the middle and begun again, and a gateway on the database says the same as the one before.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import OpenAI, { toFile } from 'openai';
import { Client } from 'pg';
import { moveAll, openSource, openTarget, type Source } from '../../../src/storage/moving/move.ts';
import { MOVED_SETTINGS, MOVED_TABLES } from '../../../src/storage/moving/tables.ts';
import { BlobFolder } from '../../../src/storage/blobs/blob-folder.ts';
import { openSqliteStorage, openWith } from '../../../src/storage/sqlite/storage.ts';
import { STATE_STORES } from '../../../src/storage/tables/stores.ts';
import type { SqliteDatabase } from '../../../src/storage/sqlite/database.ts';
import { openPostgresStorage } from '../../../src/storage/postgres/storage.ts';
import type { Storage } from '../../../src/accounts/ports/index.ts';
import { startGateway, type TestGateway } from '../../support/harness.ts';
import { eventually, freshFolder, runProgram, startProgram, type Finished } from '../../support/program.ts';
import { freshPostgres, POSTGRES_PROGRAMS } from '../../support/servers/postgres.ts';
import { isWhole } from '../../support/share.ts';
import { freshPath } from '../../support/storage/storage-directory.ts';
import { attempt, generation } from '../../support/storage/storage-records.ts';

const ADMIN_KEY = 'sk-test-admin-0123456789';
const HOUR = 3_600_000;

test('every table and setting of a data directory has its place in a move', async () => {
  const { database, ...storage } = await openWith(
    { ...STATE_STORES, database: { open: (own: SqliteDatabase) => own } },
    { path: freshPath() },
  );
  await storage.secret('pepper');
  const names = (query: string): readonly string[] =>
    database.connection
      .prepare(query)
      .all()
      .map(({ name }) => String(name));
  // Deletions that only this database's journals need, and what each database has of its own.
  const left = ['deleted_of_turns', 'schema_version', 'settings'];
  const known = [...MOVED_TABLES.map(({ name }) => name), ...left];
  expect(names("select name from sqlite_master where type = 'table'").toSorted()).toEqual(known.toSorted());
  const settings = names('select name from settings').filter(
    (name) => !name.startsWith('secret_fingerprint'),
  );
  expect([...MOVED_SETTINGS, 'identity']).toEqual(expect.arrayContaining([...settings]));
  await storage.close();
});

// Eight programs are started: in the whole run alone.
describe.skipIf(POSTGRES_PROGRAMS === null || !isWhole)('a data directory of a gateway', () => {
  let folder: string;
  let remove: () => void;
  let url: string;
  let after: TestGateway | undefined;
  const dataDir = (): string => join(folder, 'data');

  beforeAll(async () => {
    ({ folder, remove } = freshFolder());
    url = await freshPostgres();
    const config = { server: { admin_key: ADMIN_KEY }, logging: { content: true }, data_dir: dataDir() };
    writeFileSync(join(folder, 'dragoman.yaml'), JSON.stringify(config));
  });
  afterAll(async () => {
    await after?.close();
    remove();
  });

  const migrate = (...args: readonly string[]): Promise<Finished> =>
    runProgram(['migrate', 'sqlite-to-postgres', '--config', 'dragoman.yaml', '--to', url, ...args], {
      folder,
    });

  async function ask(
    origin: string,
    path: string,
    key: string,
    body?: unknown,
  ): Promise<Record<string, unknown>> {
    const answer = await fetch(`${origin}/v1${path}`, {
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });
    expect([path, answer.status]).toEqual([path, body === undefined ? 200 : expect.any(Number)]);
    return (await answer.json()) as Record<string, unknown>;
  }
  const iso = (fromNowMs: number): string => new Date(Date.now() + fromNowMs).toISOString();
  const clientOf = (origin: string, apiKey: string): OpenAI =>
    new OpenAI({ apiKey, baseURL: `${origin}/v1`, maxRetries: 0 });

  test('reads the same from PostgreSQL, although the move was killed', async () => {
    const gateway = await startProgram(['serve', '--port', '0', '--config', 'dragoman.yaml'], { folder });
    const manage = (origin: string, path: string, body?: unknown) =>
      ask(origin, `/management${path}`, ADMIN_KEY, body);
    await manage(gateway.origin, '/projects', { name: 'search' });
    const made = await manage(gateway.origin, '/keys', {
      name: 'worker',
      project: 'search',
      log_content: true,
    });
    const key = String(made['key']);
    const client = clientOf(gateway.origin, key);
    const first = await client.responses.create({ model: 'sim/echo', input: 'one' });
    const second = await client.responses.create({
      model: 'sim/echo',
      input: 'two',
      previous_response_id: first.id,
    });
    const conversation = await client.conversations.create({ metadata: { topic: 'demo' } });
    await client.responses.create({ model: 'sim/echo', input: 'three', conversation: conversation.id });
    const bytes = Buffer.alloc(700_000, 'some words ');
    const file = await client.files.create({
      file: await toFile(bytes, 'notes.txt'),
      purpose: 'user_data',
    });
    for (const user of ['ann', 'bob'])
      await client.chat.completions.create({
        model: 'sim/chat',
        user,
        messages: [{ role: 'user', content: 'hi' }],
      });
    await ask(gateway.origin, '/chat/completions', key, { model: 'sim/none', messages: [] });

    const span = `from=${iso(-HOUR)}&to=${iso(HOUR)}`;
    const paths = [
      '/management/projects',
      '/management/keys',
      '/management/audit?limit=100',
      `/management/usage?group_by=key,model,project&interval=hour&${span}`,
      `/management/usage/end-users?${span}`,
      '/management/generations?limit=100',
    ];
    const own = [
      `/responses/${second.id}`,
      `/conversations/${conversation.id}`,
      `/conversations/${conversation.id}/items`,
      `/files/${file.id}`,
    ];
    const read = async (origin: string): Promise<Record<string, unknown>> => {
      const found: Record<string, unknown> = {};
      for (const path of paths) found[path] = await ask(origin, path, ADMIN_KEY);
      for (const path of own) found[path] = await ask(origin, path, key);
      // The process that served a key knows its last use exactly; sums know it to five minutes.
      return JSON.parse(
        JSON.stringify(found, (name, value: unknown) => (name === 'last_used_at' ? value !== null : value)),
      ) as Record<string, unknown>;
    };
    await eventually(
      'all is recorded',
      async () =>
        ((await manage(gateway.origin, '/generations?limit=100'))['data'] as unknown[]).length === 6,
    );
    const there = await read(gateway.origin);

    const early = await migrate();
    expect(early).toMatchObject({ code: 1, err: expect.stringContaining('is in use. Stop the gateway') });
    expect((await gateway.stop()).code).toBe(0);
    const dry = await migrate('--dry-run', '--json');
    expect(JSON.parse(dry.out)).toMatchObject({
      rows: { keys: 2, files: 1, 'bytes of files': 1, records: 6 },
    });

    // Somebody holds a table, so that the move stands in the middle of a transaction when it is killed.
    const holder = new Client({ connectionString: url });
    await holder.connect();
    await holder.query('begin; lock table records in share row exclusive mode');
    const main = join(import.meta.dir, '..', '..', '..', 'src', 'app', 'main.ts');
    const killed = Bun.spawn(
      [process.execPath, main, 'migrate', 'sqlite-to-postgres', '--config', 'dragoman.yaml', '--to', url],
      { cwd: folder, stdout: 'ignore', stderr: 'ignore' },
    );
    await eventually('the move waits for the table', async () => {
      const { rows } = await holder.query(
        "select 1 from pg_locks l join pg_class c on c.oid = l.relation where c.relname = 'records' and not l.granted and c.relnamespace = current_schema()::regnamespace",
      );
      return rows.length > 0;
    });
    killed.kill('SIGKILL');
    await killed.exited;
    await holder.query('commit');
    await holder.end();

    const config = {
      database_url: url,
      secret: readFileSync(join(dataDir(), 'secret.key'), 'utf8').trim(),
      server: { admin_key: ADMIN_KEY },
      keys: [],
    };
    const refused = await startGateway(config).catch(String);
    expect(refused).toContain('moving a data directory to this database has not been completed');

    const done = await migrate();
    expect(done).toMatchObject({ code: 0, err: expect.stringContaining('secret.key') });
    expect(done.out).toMatch(/rows moved and verified in [\d.]+ s/);
    expect(await migrate()).toMatchObject({ code: 0, err: expect.stringContaining('already been moved') });

    after = await startGateway(config);
    expect(await read(after.origin)).toEqual(there);
    const later = clientOf(after.origin, key);
    const content = await later.files.content(file.id);
    expect(Buffer.from(await content.arrayBuffer()).equals(bytes)).toBe(true);
    const next = await later.responses.create({
      model: 'sim/echo',
      input: 'and now?',
      previous_response_id: second.id,
    });
    expect(next.previous_response_id).toBe(second.id);
    await later.responses.create({ model: 'sim/echo', input: 'four', conversation: conversation.id });
    const items = await later.conversations.items.list(conversation.id, { order: 'asc' });
    expect(items.data.length).toBe(4);
  });

  test('is not moved to a database that contains other data', async () => {
    const other = freshFolder();
    await startProgram(['serve', '--port', '0', '--data-dir', 'data'], other).then((program) =>
      program.stop(),
    );
    const refused = await migrate('--from', join(other.folder, 'data'));
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('the database is not empty') });
    other.remove();
  });
});

describe.skipIf(POSTGRES_PROGRAMS === null)('records and sums', () => {
  const SECRET = new Uint8Array(32).fill(7);
  /** Noon of the second of three days. */
  const NOON = 1_700_049_600_000;

  /** A directory that nobody has open: a copy, since this process gives the first one's locks back when it likes. */
  async function directory(fill: (storage: Storage) => Promise<void>): Promise<string> {
    const path = freshPath();
    const storage = await openSqliteStorage({ path, secrets: [SECRET] });
    await fill(storage);
    await storage.close();
    const copy = dirname(freshPath());
    cpSync(dirname(path), copy, { recursive: true });
    return copy;
  }

  const options = (source: Source, dataDir: string) => ({
    source,
    dataDir,
    withBytes: true,
    secrets: [SECRET],
    last: () => Promise.resolve(),
  });

  /** Moves, and dies after each piece; each time it goes on with what the database says. @returns how often it died */
  async function moveInPieces(source: Source, url: string, dataDir: string): Promise<number> {
    const target = await openTarget(url, () => {});
    const dies = new Error('killed');
    const moved = (): void => {
      throw dies;
    };
    for (let deaths = 0; ; deaths += 1)
      try {
        await moveAll({ ...options(source, dataDir), target, moved });
        await target.close();
        return deaths;
      } catch (error) {
        if (error !== dies) throw error;
      }
  }

  const everything = async (storage: Storage): Promise<unknown> => {
    const span = { fromMs: NOON - 72 * HOUR, toMs: NOON + 72 * HOUR };
    const groupBy = ['project', 'key', 'model', 'provider', 'endpoint', 'protocol'] as const;
    // Rows of the same cost have no order.
    const sorted = (rows: readonly object[]): readonly string[] =>
      rows
        .map((row) =>
          JSON.stringify(row, (_, value) => (value instanceof Map ? [...value].toSorted() : value)),
        )
        .toSorted();
    const usage = async (interval: 'hour' | 'day' | 'month') =>
      sorted((await storage.usage.query({ ...span, interval, groupBy, filters: {} })).rows);
    const endUsers = await storage.usage.endUsers({ ...span, filters: {} });
    const { generations } = await storage.ledger.list({ filters: {}, order: 'asc', limit: 10_000 });
    return {
      generations,
      hours: await usage('hour'),
      days: await usage('day'),
      months: await usage('month'),
      endUsers: sorted(endUsers),
      late: await storage.ledger.findOfAnybody('gen-late'),
    };
  };

  test('are equal, to the nano-dollar and by the hour, wherever the move was interrupted', async () => {
    const dataDir = await directory(async (storage) => {
      for (let n = 0; n < 1_100; n += 1) {
        const createdAt = NOON + (n - 550) * 160_000;
        const id = `${createdAt.toString(16).padStart(12, '0')}${String(n).padStart(20, '0')}`;
        const times = { createdAt, firstContentAt: createdAt + 5, endedAt: createdAt + 70 + n };
        const usd = n % 7 === 0 ? null : n / 1e9 + 1e-7;
        storage.ledger.append(
          generation(id, {
            ...times,
            keyId: `key_${n % 5}`,
            projectId: n % 2 === 0 ? `key_${n % 5}` : 'search',
            model: n % 11 === 0 ? null : `vendor/model-${n % 3}`,
            endUser: n % 3 === 0 ? null : String(n % 40).padStart(32, '0'),
            cost: usd === null ? null : { usd, items: { input: usd }, price: { input: 1, source: 'test' } },
            turns: 1 + (n % 2),
            error:
              n % 13 === 0 ? { kind: 'upstream_unavailable', message: 'away', upstreamStatus: 503 } : null,
            content: n % 10 === 0 ? { request: { n }, answer: { text: `é ${n}` } } : null,
          }),
          [attempt(`${id}-0`, id)],
        );
      }
      storage.ledger.append(generation('gen-late', { createdAt: NOON, endUser: null }), []);
      await storage.ledger.findOfAnybody('');
      // Days that are over are in rows of their own; of the last one, only its hours are.
      while (await storage.usage.maintain(NOON + 12 * HOUR));
    });
    const source = await openSource({ dataDir, secrets: [SECRET], notice: () => {} });
    const url = await freshPostgres();
    const deaths = await moveInPieces(source, url, dataDir);
    expect(deaths).toBeGreaterThanOrEqual(7);
    const there = await everything(source.storage);
    expect((there as { generations: unknown[] }).generations.length).toBe(1_100);
    await source.close();
    const storage = await openPostgresStorage({ url, secrets: [SECRET] });
    expect(await everything(storage)).toEqual(there);
    await storage.close();
  });

  test('go with the bytes of files and of unfinished uploads', async () => {
    const names = ['file-b', 'file-a', 'piece-1'];
    const dataDir = await directory(async (storage) => {
      const common = { projectId: 'project', purpose: 'user_data', filename: 'a.txt', name: null };
      const file = {
        ...common,
        createdAt: NOON,
        expiresAt: null,
        mediaType: 'text/plain',
        bytes: 9,
        sha256: null,
      };
      for (const id of ['file-a', 'file-b', 'file-lost']) await storage.files.put({ ...file, id });
      const begun = { keyId: 'key', mediaType: null, size: null, pieces: [], bytes: 0, fileId: null };
      await storage.uploads.begin({ ...common, ...begun, id: 'upload', expiresAt: NOON });
      await storage.uploads.add('upload', 0, { name: 'piece-1', bytes: 7 });
    });
    const folder = new BlobFolder(join(dataDir, 'files'));
    for (const name of names) {
      const draft = await folder.draft();
      await draft.write(Buffer.from(`of ${name}`));
      await draft.keep(name);
    }
    const source = await openSource({ dataDir, secrets: [SECRET], notice: () => {} });
    const url = await freshPostgres();
    await moveInPieces(source, url, dataDir);
    await source.close();
    const storage = await openPostgresStorage({ url, secrets: [SECRET] });
    const found = await Promise.all([...names, 'file-lost'].map(async (name) => storage.blobs?.read(name)));
    expect(found.map((bytes) => bytes && Buffer.from(bytes).toString())).toEqual([
      ...names.map((name) => `of ${name}`),
      null,
    ]);
    await storage.close();
  });

  test('are not moved with another secret, or if the directory has changed', async () => {
    const dataDir = await directory(async (storage) => {
      storage.ledger.append(generation('gen-1'), []);
    });
    const source = await openSource({ dataDir, secrets: [SECRET], notice: () => {} });
    const target = await openTarget(await freshPostgres(), () => {});
    const move = (secrets: readonly Uint8Array[]): Promise<unknown> =>
      moveAll({ ...options(source, dataDir), target, secrets, moved: () => {} });
    // The secret's fingerprint is noted by whoever uses it first.
    expect(await move([new Uint8Array(32).fill(9)]).catch(String)).toContain('does not match this database');
    source.storage.ledger.append(generation('gen-2'), []);
    await source.settle(Date.now());
    expect(await move([SECRET]).catch(String)).toContain('the data directory has changed');
    await target.close();
    await source.close();
  });
});
