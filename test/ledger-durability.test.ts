// The promise of the records: once an append has resolved, killing the process loses nothing and nothing is
// written twice.
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlite } from '../src/runtime/sqlite.ts';
import { openSqliteStorage } from '../src/storage/sqlite-storage.ts';
import { killAfter } from './kill-after.ts';

const directory = mkdtempSync(join(tmpdir(), 'dragoman-durability-'));
const path = join(directory, 'dragoman.db');
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('no confirmed record is lost or doubled when the process is killed', async () => {
  const confirmed: string[] = [];
  // Enough records for several checkpoints of the log, so that a kill may fall into one.
  for (const [run, count] of [
    ['a', 50],
    ['b', 1_500],
    ['c', 2_500],
  ] as const) {
    const ids = await killAfter('append-forever.ts', [path, run], count);
    expect(ids.length).toBeGreaterThanOrEqual(count);
    confirmed.push(...ids);
  }

  const storage = await openSqliteStorage({ path });
  expect((await storage.ledger.find(confirmed[0] ?? '', 'key_a'))?.attempts.length).toBe(1);
  await storage.close();
  const database = openSqlite(path);
  const count = (table: string, column: string): Map<unknown, unknown> =>
    new Map(
      database
        .prepare(`select ${column} as id, count(*) as n from ${table} group by ${column}`)
        .all()
        .map((row) => [row['id'], row['n']]),
    );
  const generations = count('generations', 'id');
  expect(confirmed.filter((id) => generations.get(id) !== 1)).toEqual([]);
  // The only attempt of a request is kept in its row: there with it, and nowhere twice.
  const lost = "select id from generations where json_extract(record, '$.attempt.model') is null";
  expect(database.prepare(lost).all()).toEqual([]);
  expect(count('attempts', 'generation_id').size).toBe(0);
  expect(database.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
  database.close();
}, 60_000);
