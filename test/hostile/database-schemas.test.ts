// Another user of the same PostgreSQL database, who makes schemas and tables where a `search_path` would find them.
import { describe, expect, test } from 'bun:test';
import { Client } from 'pg';
import { openWith, type PostgresOptions } from '../../src/storage/postgres/storage.ts';
import { POSTGRES_STORES } from '../../src/storage/tables/stores.ts';
import { rejection } from '../support/rejection.ts';
import { freshPostgres, POSTGRES_PROGRAMS } from '../support/servers/postgres.ts';

const CONVERSATION = { id: 'conv_1', projectId: 'key_a', createdAt: 1, expiresAt: null, metadata: {} };
let names = 0;

/** An address whose path has two schemas, and somebody who may change both. */
async function scene(): Promise<{
  readonly first: string;
  readonly second: string;
  readonly url: string;
  readonly other: Client;
}> {
  const url = new URL(await freshPostgres());
  names += 1;
  const [first, second] = [`first_${names}`, `Second "${names}"`];
  const other = new Client({ connectionString: url.href });
  await other.connect();
  url.searchParams.set('options', `-c search_path=${first},${quoted(second).replaceAll(' ', '\\ ')}`);
  return { first, second, url: url.href, other };
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

const open = (options: PostgresOptions) => openWith(POSTGRES_STORES, options);

describe.skipIf(POSTGRES_PROGRAMS === null)('the search path of PostgreSQL', () => {
  test('tables in a later schema do not belong to this installation', async () => {
    const { first, second, url, other } = await scene();
    await other.query(`create schema ${first}; create schema ${quoted(second)}`);
    await other.query(`create table ${quoted(second)}.schema_version (version int, oldest_program text)`);
    await other.query(`insert into ${quoted(second)}.schema_version values (1, '99.0.0')`);
    const storage = await open({ url });
    await storage.conversations.create(CONVERSATION, []);
    const { rows } = await other.query(`select count(*)::int as rows from ${first}.conversations`);
    expect(rows).toEqual([{ rows: 1 }]);
    await storage.close();
    await other.end();
  });

  test('tables in an earlier schema that is created later are not read', async () => {
    const { first, second, url, other } = await scene();
    await other.query(`create schema ${quoted(second)}`);
    const storage = await open({ url, connections: 1 });
    await storage.conversations.create(CONVERSATION, []);
    // The same tables, and nothing in them.
    await other.query(`create schema ${first}`);
    await other.query(
      `create table ${first}.conversations (like ${quoted(second)}.conversations including all)`,
    );
    await other.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'dragoman' and pid <> pg_backend_pid()`,
    );
    const find = () => storage.conversations.find('key_a', 'conv_1', 0);
    // The first question may find that its connection is gone.
    await find().catch(() => null);
    expect(await find()).toMatchObject({ id: 'conv_1' });
    await storage.close();
    await other.end();
  });

  test('the start reports a schema in which everybody may create tables, and no other', async () => {
    const { first, second, url, other } = await scene();
    await other.query(`create schema ${first}; create schema ${quoted(second)}`);
    const notices: string[] = [];
    const start = async (): Promise<void> => {
      await (await open({ url, notice: (sentence) => notices.push(sentence) })).close();
    };
    await start();
    expect(notices).toEqual([]);
    await other.query(`grant create on schema ${first} to public`);
    await start();
    expect(notices).toEqual([expect.stringContaining(`revoke create on schema ${first} from public`)]);
    await other.end();
  });

  test('the start fails if no schema exists, and says what to do', async () => {
    const { url, other } = await scene();
    expect(String(await rejection(open({ url })))).toContain('no schema of its search_path exists');
    await other.end();
  });
});
