// The list of generations: in order, page by page, as far as the filters let through, of all versions' records.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { GenerationRecord } from '../src/ledger/index.ts';
import { newGenerationId } from '../src/runtime/ids.ts';
import { openSqlite } from '../src/runtime/sqlite.ts';
import type { GenerationFilters } from '../src/storage/ports.ts';
import { openSqliteStorage } from '../src/storage/sqlite/storage.ts';
import { LEDGER_DATABASES, type LedgerStorage, PATIENCE_MS } from './ledger-databases.ts';
import { rejection } from './rejection.ts';
import { freshPath } from './storage-directory.ts';
import { attempt, generation } from './storage-records.ts';

const HOUR = 3_600_000;
/** End users, as records have them. */
const [ANN, BEN] = ['a'.repeat(32), 'b'.repeat(32)];
const NOON = Date.UTC(2026, 10, 20, 12);

function recordAt(createdAt: number, over: Partial<GenerationRecord> = {}): GenerationRecord {
  return generation(newGenerationId(createdAt), { createdAt, ...over });
}

async function idsOf(
  storage: LedgerStorage,
  filters: GenerationFilters,
  order: 'asc' | 'desc',
): Promise<string[]> {
  const ids: string[] = [];
  for (let after: string | undefined; ; after = ids.at(-1)) {
    const page = await storage.ledger.list({ filters, order, after, limit: 7 });
    ids.push(...page.generations.map(({ generation: g }) => g.id));
    if (!page.hasMore) return ids;
    expect(page.generations).toHaveLength(7);
  }
}

const anyRecord = fc
  .record({
    hour: fc.integer({ min: 0, max: 900 }),
    ms: fc.nat(HOUR - 1),
    keyId: fc.constantFrom('key_a', 'key_b'),
    project: fc.constantFrom(null, 'search'),
    model: fc.constantFrom('openai/gpt-5', null),
    end: fc.constantFrom('answered', 'failed', 'cancelled'),
    usd: fc.constantFrom(null, 0, 0.25, 1),
    endUser: fc.constantFrom(null, ANN, BEN),
  })
  .map(({ hour, ms, keyId, project, model, end, usd, endUser }) =>
    recordAt(NOON - hour * HOUR - ms, {
      keyId,
      projectId: project ?? keyId,
      model,
      endUser,
      status: { answered: 200, failed: 502, cancelled: 499 }[end] ?? 0,
      cancelled: end === 'cancelled',
      error: end === 'failed' ? { kind: 'timeout', message: 'late', upstreamStatus: null } : null,
      cost: { usd, items: {}, price: null },
    }),
  );
const anyFilters: fc.Arbitrary<GenerationFilters> = fc.record(
  {
    project: fc.constantFrom(['search'], ['key_a', 'search'], ['nowhere']),
    key: fc.constantFrom(['key_a'], []),
    model: fc.constantFrom(['openai/gpt-5']),
    status: fc.constantFrom([200, 499]),
    outcome: fc.constantFrom(['failed'] as const, ['answered', 'cancelled'] as const, ['cancelled'] as const),
    minCostUsd: fc.constantFrom(0, 0.25, 0.3),
    endUser: fc.constantFrom([ANN], [ANN, BEN], ['f'.repeat(32)], ['nobody', ''], []),
    fromMs: fc.nat(900 * HOUR).map((ago) => NOON - ago),
    toMs: fc.nat(900 * HOUR).map((ago) => NOON - ago),
  },
  { requiredKeys: [] },
);

function passes(g: GenerationRecord, f: GenerationFilters): boolean {
  const outcome = g.cancelled ? 'cancelled' : g.error ? 'failed' : 'answered';
  return (
    (!f.project || f.project.includes(g.projectId)) &&
    (!f.key || f.key.includes(g.keyId)) &&
    (!f.model || f.model.includes(g.model ?? '')) &&
    (!f.status || f.status.includes(g.status)) &&
    (!f.endUser || f.endUser.includes(g.endUser ?? '')) &&
    (!f.outcome || f.outcome.includes(outcome)) &&
    (f.minCostUsd === undefined || (g.cost?.usd ?? -1) >= f.minCostUsd) &&
    (f.fromMs === undefined || g.createdAt >= f.fromMs) &&
    (f.toMs === undefined || g.createdAt < f.toMs)
  );
}

describe.each(LEDGER_DATABASES)('$name', (database) => {
  test(
    'what passes is listed in the order of the requests, page by page, whatever of it is in the sums',
    async () => {
      const records = fc.array(anyRecord, { minLength: 10, maxLength: 60 });
      await fc.assert(
        fc.asyncProperty(records, fc.array(anyFilters, { minLength: 4, maxLength: 4 }), async (all, some) => {
          const storage = await (await database.fresh())();
          const inOrder = all.toSorted((a, b) => (a.id < b.id ? -1 : 1));
          const check = async (): Promise<void> => {
            for (const filters of [{}, ...some]) {
              const ids = inOrder.filter((record) => passes(record, filters)).map(({ id }) => id);
              expect(await idsOf(storage, filters, 'asc')).toEqual(ids);
              expect(await idsOf(storage, filters, 'desc')).toEqual(ids.toReversed());
            }
          };
          for (const record of all) storage.ledger.append(record, []);
          await check();
          while (await storage.usage.maintain(NOON));
          await check();
          await storage.close();
        }),
        { numRuns: database.runs },
      );
    },
    PATIENCE_MS,
  );

  test('those of no end user are found by the empty name', async () => {
    const storage = await (await database.fresh())();
    const [of, none] = [recordAt(NOON, { endUser: ANN }), recordAt(NOON + 1)];
    for (const record of [of, none]) storage.ledger.append(record, []);
    expect(await idsOf(storage, { endUser: ['', BEN] }, 'asc')).toEqual([none.id]);
    expect(await idsOf(storage, { endUser: [ANN] }, 'asc')).toEqual([of.id]);
    await storage.close();
  });

  test(
    'a page goes on behind a generation that is no longer there, and an entry has its attempts',
    async () => {
      const storage = await (await database.fresh())();
      const record = recordAt(NOON);
      const tried = attempt(`${record.id}-0`, record.id);
      storage.ledger.append(record, [tried]);
      const after = newGenerationId(NOON + 1);
      const page = await storage.ledger.list({ filters: {}, order: 'desc', after, limit: 1 });
      expect(page).toEqual({ generations: [{ generation: record, attempts: [tried] }], hasMore: false });
      const before = await storage.ledger.list({ filters: {}, order: 'asc', after, limit: 1 });
      expect(before).toEqual({ generations: [], hasMore: false });
      expect(await storage.ledger.findOfAnybody(record.id)).toEqual({
        generation: record,
        attempts: [tried],
      });
      const wrong = rejection(storage.ledger.list({ filters: {}, order: 'asc', after: 'resp_1', limit: 1 }));
      expect(await wrong).toMatchObject({ kind: 'invalid_request', param: 'after' });
      await storage.close();
    },
    PATIENCE_MS,
  );
});

test('records of the first tables and those that are not added up yet lie among the others', async () => {
  const path = freshPath();
  const all = Array.from({ length: 450 }, (_, at) =>
    recordAt(NOON - (450 - at) * 1000, { status: at % 3 ? 200 : 500 }),
  );
  let storage = await openSqliteStorage({ path });
  for (const record of all) storage.ledger.append(record, [attempt(`${record.id}-0`, record.id)]);
  await storage.close();
  const database = openSqlite(path);
  // As the first version had them: some of before, some of a time in which both versions ran.
  const insert = database.prepare(
    'insert into generations (id, key_id, created_at, model, provider, status, record) values (?, ?, ?, ?, ?, ?, ?)',
  );
  for (const g of all.filter((_, at) => at < 200 || at % 50 === 0)) {
    const rest = { api: g.api, protocol: g.protocol, requestedModel: 'm', endedAt: g.endedAt, attempts: 1 };
    insert.run(g.id, g.keyId, g.createdAt, g.model, g.provider, g.status, JSON.stringify(rest));
    database.exec(`delete from records where id = x'${g.id}'`);
  }
  database.exec(
    "insert into settings (name, value) values ('usage_left_records', 'ffffffffffffffffffffffffffffffff')",
  );
  database.close();
  storage = await openSqliteStorage({ path });
  const ids = all.map(({ id }) => id);
  expect(await idsOf(storage, {}, 'desc')).toEqual(ids.toReversed());
  expect(await idsOf(storage, { key: ['key_a'], status: [500] }, 'asc')).toEqual(
    ids.filter((_, at) => at % 3 === 0),
  );
  await storage.close();
});
