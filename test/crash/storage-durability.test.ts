// The promise of stored responses: once a put has resolved, killing the process loses nothing; and the response and
// its items in the conversation are there together or not at all.
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '../../src/base/runtime/sqlite.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/storage.ts';
import { killAfter } from './kill-after.ts';
import { storedResponse } from '../support/storage/storage-records.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-durability-'));
const path = join(directory, 'dragoman.db');
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('no confirmed response is lost or stored in part when the process is killed', async () => {
  const confirmed: string[] = [];
  // Enough for several checkpoints of the log, so that a kill may fall into one.
  for (const [run, count] of [
    ['a', 30],
    ['b', 400],
    ['c', 700],
  ] as const) {
    const ids = await killAfter('store-forever.ts', [path, run], count);
    expect(ids.length).toBeGreaterThanOrEqual(count);
    confirmed.push(...ids);
  }

  const storage = await openSqliteStorage({ path });
  for (const id of confirmed) {
    const found = await storage.responses.find('key_a', `resp_${id}`, 0);
    const { input, response } = storedResponse(`resp_${id}`);
    expect(found).toMatchObject({ input, response });
    expect((await storage.ledger.find(`gen-${id}`, 'key_a'))?.attempts.length).toBe(1);
    for (const n of [0, 1]) {
      const item = await storage.conversations.findItem(
        'key_a',
        found?.conversationId ?? '',
        `msg_${id}_${n}`,
      );
      expect(item).toMatchObject({ id: `msg_${id}_${n}` });
    }
  }
  const used = await storage.stateUsage.bytes('key_a');
  await storage.close();

  const database = openSqlite(path);
  const sum = (sql: string): number => Number(database.prepare(sql).all()[0]?.['n']);
  const responses = sum('select count(*) as n from responses');
  expect(responses).toBeGreaterThanOrEqual(confirmed.length);
  expect(sum('select count(*) as n from conversation_items')).toBe(2 * responses);
  expect(sum('select (select sum(bytes) from responses) + (select sum(bytes) from conversations) as n')).toBe(
    used,
  );
  expect(database.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
  database.close();
});
