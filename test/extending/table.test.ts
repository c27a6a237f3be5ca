// A table is one file and one line: a store of this folder's own, added to the stores of a database that was there before it,
// SQLite or PostgreSQL.
import { describe, expect, test } from 'bun:test';
import { openWith as openPostgres } from '../../src/storage/postgres/storage.ts';
import { openSqliteStorage, openWith } from '../../src/storage/sqlite/storage.ts';
import { STATE_STORES } from '../../src/storage/tables/stores.ts';
import { freshPostgres, POSTGRES_PROGRAMS } from '../support/servers/postgres.ts';
import { freshPath } from '../support/storage/storage-directory.ts';
import { generation } from '../support/storage/storage-records.ts';
import { guestBook } from './toy-table.ts';

const WITH_GUESTS = { ...STATE_STORES, guestBook };

test('a new store gets its table in an old directory, keeps its data, and changes no other table', async () => {
  const path = freshPath();
  const before = await openSqliteStorage({ path });
  before.ledger.append(generation('gen-1'), []);
  await before.close();

  for (const line of ['one', 'two']) {
    const storage = await openWith(WITH_GUESTS, { path });
    await storage.guestBook.sign('key_a', line);
    await storage.guestBook.sign('key_b', 'b');
    expect(await storage.ledger.find('gen-1', 'key_a')).not.toBeNull();
    await storage.close();
  }
  // A program without it goes on: the table is only an addition.
  await (await openSqliteStorage({ path })).close();
  const storage = await openWith(WITH_GUESTS, { path });
  expect(await storage.guestBook.linesOf('key_a')).toEqual(['one', 'two']);
  await storage.close();
});

describe.skipIf(POSTGRES_PROGRAMS === null)('the same store', () => {
  test('runs on PostgreSQL', async () => {
    const url = await freshPostgres();
    await (await openPostgres({}, { url })).close();
    const storage = await openPostgres({ guestBook }, { url });
    await storage.guestBook.sign('key_a', 'one');
    await storage.guestBook.sign('key_b', 'b');
    await storage.guestBook.sign('key_a', 'two');
    expect(await storage.guestBook.linesOf('key_a')).toEqual(['one', 'two']);
    await storage.close();
  });
});
