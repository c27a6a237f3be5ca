// How long records, contents and sums are kept: what is older goes step by step, and what it came to stays.
import { describe, expect, test } from 'bun:test';
import type { GenerationRecord } from '../../../src/accounts/ledger/index.ts';
import type { LedgerSum } from '../../../src/accounts/limits/index.ts';
import { newGenerationId } from '../../../src/base/runtime/ids.ts';
import { openSqlite } from '../../../src/base/runtime/sqlite.ts';
import { openSqliteStorage } from '../../../src/storage/sqlite/storage.ts';
import { LEDGER_DATABASES, type LedgerStorage, type OpenLedger } from './ledger-databases.ts';
import { freshPath, lookingClock } from '../../support/storage/storage-directory.ts';
import { attempt, generation } from '../../support/storage/storage-records.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOON = Date.UTC(2026, 10, 20, 12);
const ALL = { fromMs: 0, toMs: NOON + DAY, interval: null, groupBy: [], filters: {} } as const;
const CONTENT = { request: { messages: [] }, answer: { choices: [] } };

function recordAt(createdAt: number, over: Partial<GenerationRecord> = {}): GenerationRecord {
  return generation(newGenerationId(createdAt), { createdAt, endUser: 'e'.repeat(32), ...over });
}

/** SQLite, as if each look at the clock took 0.3 milliseconds. */
function steadily(path: string): OpenLedger {
  return () => openSqliteStorage({ path, elapsedMs: lookingClock(0.3) });
}

/** One record for each hour of some days, or for every so many hours; the last one at noon. */
async function filled(
  open: OpenLedger,
  hours: number,
  over: Partial<GenerationRecord> = {},
  everyHours = 1,
): Promise<LedgerStorage> {
  const storage = await open();
  for (let ago = 0; ago < hours; ago += everyHours) {
    const record = recordAt(NOON - ago * HOUR, over);
    storage.ledger.append(record, [attempt(`${record.id}-0`, record.id)]);
  }
  await storage.usage.query(ALL);
  return storage;
}

async function all(step: () => Promise<number>): Promise<readonly number[]> {
  const steps: number[] = [];
  for (let count = await step(); count > 0; count = await step()) steps.push(count);
  return steps;
}

async function listed(storage: LedgerStorage): Promise<readonly GenerationRecord[]> {
  const { generations } = await storage.ledger.list({ filters: {}, order: 'asc', limit: 10_000 });
  return generations.map((each) => each.generation);
}

async function contentsOf(
  storage: LedgerStorage,
  records: readonly GenerationRecord[],
): Promise<readonly GenerationRecord['content'][]> {
  const found = await Promise.all(records.map(({ id }) => storage.ledger.findOfAnybody(id)));
  return found.map((each) => each?.generation.content ?? null);
}

async function lifetime(storage: LedgerStorage): Promise<LedgerSum | undefined> {
  for await (const [sum] of storage.usage.read({ by: 'key', byEndUser: false, fromMs: 0, inSlices: false }))
    return sum;
  return undefined;
}

test('old records go with their contents, a bounded number at a time, and their sums stay', async () => {
  const path = freshPath();
  const storage = await filled(steadily(path), 250, { content: CONTENT });
  // Counts of an old request that came late are as young as themselves.
  const late = recordAt(NOON - 200 * HOUR, { createdAt: NOON });
  storage.ledger.append(late, []);
  const before = (await storage.usage.query(ALL)).rows;
  const steps = await all(() => storage.ledger.purge(NOON - 100 * HOUR));
  expect(Math.max(...steps)).toBeLessThanOrEqual(40);
  expect(await listed(storage)).toHaveLength(101);
  expect(await storage.ledger.findOfAnybody(late.id)).not.toBeNull();
  expect((await storage.usage.query(ALL)).rows).toEqual(before);
  const database = openSqlite(path);
  expect(database.prepare('select count(*) as n from record_contents').all()).toEqual([{ n: 101 }]);
  database.close();
  await storage.close();
});

test('contents alone may go sooner, as few at a time as their size allows', async () => {
  const storage = await openSqliteStorage({ path: ':memory:', elapsedMs: lookingClock(5) });
  const large = { request: 'x'.repeat(400_000), answer: '' };
  const records = Array.from({ length: 4 }, (_, at) => recordAt(NOON + at, { content: large }));
  for (const record of records) storage.ledger.append(record, []);
  await storage.usage.query(ALL);
  expect(await all(() => storage.ledger.purgeContents(NOON + 3))).toEqual([1, 1, 1]);
  expect(await contentsOf(storage, await listed(storage))).toEqual([null, null, null, large]);
  await storage.close();
});

test('a deletion uses smaller portions while commits are slow, and larger ones afterwards', async () => {
  const path = freshPath();
  let lookMs = 0.11;
  let nowMs = 0;
  const storage = await openSqliteStorage({ path, elapsedMs: () => (nowMs += lookMs) });
  for (let at = 0; at < 60; at += 1) storage.ledger.append(recordAt(NOON + at, { content: CONTENT }), []);
  await storage.usage.query(ALL);
  const step = (): Promise<number> => storage.ledger.purgeContents(NOON + DAY);
  expect(await step()).toBe(10);
  lookMs = 2.5;
  expect([await step(), await step()]).toEqual([1, 1]);
  lookMs = 0.11;
  expect([await step(), await step(), await step()]).toEqual([3, 3, 4]);
  await storage.close();
});

describe.each(LEDGER_DATABASES)('$name', (database) => {
  test('old sums are deleted day by day, and stay part of the sums of all time', async () => {
    // Each hour that has records costs a server thirty questions.
    const storage = await filled(await database.fresh(), 240, {}, 6);
    const before = (await storage.usage.query(ALL)).rows;
    const spent = await lifetime(storage);
    while (await storage.usage.maintain(NOON));
    const firstKept = Math.floor((NOON - 3 * DAY) / DAY) * DAY;
    expect((await all(() => storage.usage.purge(firstKept + HOUR))).length).toBeGreaterThan(1);
    const report = await storage.usage.query(ALL);
    expect(report.rows).toEqual(before);
    expect(report.fromMs).toBe(firstKept);
    expect(await lifetime(storage)).toMatchObject({ requests: spent?.requests, nanoUsd: spent?.nanoUsd });
    const days = await storage.usage.query({ ...ALL, fromMs: 1, interval: 'day' });
    expect(days.rows.map(({ startMs, sums }) => [startMs, sums.counts.requests])).toEqual([
      [0, 40 - 15],
      ...[0, 1, 2].map((day) => [firstKept + day * DAY, 4]),
      [firstKept + 3 * DAY, 3],
    ]);
    const rows = await storage.usage.endUsers(ALL);
    expect(rows).toMatchObject([{ requests: 15 }]);
    await storage.close();
  });

  test('limits count a whole hour after its records were deleted', async () => {
    // Noon, and some hours of the day before.
    const storage = await filled(await database.fresh(), 20);
    const sums = async (): Promise<number | undefined> => {
      const query = {
        by: 'gateway',
        byEndUser: false,
        fromMs: NOON - 15 * HOUR + 1,
        inSlices: false,
      } as const;
      for await (const [sum] of storage.usage.read(query)) return sum?.requests;
    };
    expect(await sums()).toBe(15);
    await all(() => storage.ledger.purge(NOON - 12 * HOUR));
    expect(await sums()).toBe(16);
    await storage.close();
  });

  test('records are deleted with their contents, by whole days if the database drops days, and their sums stay', async () => {
    const storage = await filled(await database.fresh(), 100, { content: CONTENT });
    // A record of the first hour of a day belongs to it.
    const first = recordAt(NOON - 60 * HOUR, { content: CONTENT });
    storage.ledger.append(first, []);
    const before = (await storage.usage.query(ALL)).rows;
    await all(() => storage.ledger.purgeContents(NOON - 36 * HOUR));
    const kept = await listed(storage);
    expect(kept.length).toBe(101);
    // A list has none of them.
    expect(kept.filter(({ content }) => content !== null)).toEqual([]);
    expect((await contentsOf(storage, kept)).filter((content) => content !== null).length).toBe(37);
    const untilMs = NOON - 50 * HOUR;
    expect((await all(() => storage.ledger.purge(untilMs))).length).toBeGreaterThan(0);
    const left = await listed(storage);
    const fromMs = database.dropsDays ? Math.floor(untilMs / DAY) * DAY : untilMs;
    expect(left.length).toBe((NOON - fromMs) / HOUR + (fromMs <= first.createdAt ? 2 : 1));
    expect(await all(() => storage.ledger.purge(untilMs))).toEqual([]);
    expect((await storage.usage.query(ALL)).rows).toEqual(before);
    // A day that was dropped is made again for what comes late.
    const late = recordAt(NOON - 90 * HOUR);
    storage.ledger.append(late, []);
    expect(await storage.ledger.findOfAnybody(late.id)).toEqual({ generation: late, attempts: [] });
    await storage.close();
  });
});
