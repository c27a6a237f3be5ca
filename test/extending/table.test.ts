// A table is one file and one line: a store of this folder's own, added to the list of stores of a directory that was
// there before it, and there for programs that know it only.
import { expect, test } from 'bun:test';
import { openSqliteStorage, openWith } from '../../src/storage/sqlite/storage.ts';
import { STORES } from '../../src/storage/sqlite/stores.ts';
import { rejection } from '../rejection.ts';
import { freshPath } from '../storage-directory.ts';
import { generation } from '../storage-records.ts';
import { guestBook } from './toy-table.ts';

const WITH_GUESTS = { ...STORES, guestBook };

test('a new store gets its table in an old directory, keeps what it is given, and leaves the others as they were', async () => {
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
  const storage = await openWith(WITH_GUESTS, { path });
  expect(await storage.guestBook.linesOf('key_a')).toEqual(['one', 'two']);
  await storage.close();

  // A program without it does not know what it would have to keep right.
  expect(await rejection(openSqliteStorage({ path }))).toMatchObject({
    message: expect.stringContaining("its step 'a guest book' is not known"),
  });
});
