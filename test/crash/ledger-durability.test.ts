// The promise of the records: once an append has resolved, killing the process loses nothing and nothing is
// written twice.
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '../../src/base/runtime/sqlite.ts';
import { idOfRow } from '../../src/storage/record-ids.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/storage.ts';
import { killAfter } from './kill-after.ts';
import { attempt, generation } from '../support/storage/storage-records.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-durability-'));
const path = join(directory, 'dragoman.db');
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('no confirmed record is lost or doubled when the process is killed', async () => {
  const confirmed: string[] = [];
  // Enough records for several checkpoints of the log, so that a kill may fall into one.
  for (const [run, count] of [
    ['a', 50],
    ['b', 1_500],
    ['c', 8_000],
  ] as const) {
    const ids = await killAfter('append-forever.ts', [path, run], count);
    expect(ids.length).toBeGreaterThanOrEqual(count);
    confirmed.push(...ids);
  }

  // Each run has brought in what the one before it left in its journal; the last one's is there.
  const left = readdirSync(join(directory, 'journal')).filter((name) => name.endsWith('.journal'));
  // A journal has several files where much of it waits.
  expect(new Set(left.map((name) => name.split('.')[0])).size).toBe(1);
  const storage = await openSqliteStorage({ path });
  for (const id of [confirmed[0], confirmed.at(-1)])
    expect(await storage.ledger.find(id ?? '', 'key_a')).toEqual({
      generation: generation(id ?? ''),
      attempts: [attempt(`${id}-0`, id ?? '')],
    });
  await storage.close();
  expect(readdirSync(join(directory, 'journal'))).toEqual([]);
  const database = openSqlite(path);
  const ids = new Set(
    database
      .prepare('select id from records')
      .all()
      .map(({ id }) => idOfRow(id as Uint8Array)),
  );
  expect(confirmed.filter((id) => !ids.has(id))).toEqual([]);
  expect(database.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
  database.close();
});
