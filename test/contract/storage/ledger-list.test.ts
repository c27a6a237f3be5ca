// The list of generations: in order, page by page, as far as the filters let through.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  type AttemptRecord,
  type GenerationRecord,
  outcomeOf,
  REQUEST_STATES,
  requestState,
} from '../../../src/accounts/ledger/index.ts';
import { newGenerationId } from '../../../src/base/runtime/ids.ts';
import {
  GENERATION_FACETS,
  GENERATION_ORDERS,
  type GenerationFilters,
  type GenerationOrder,
} from '../../../src/accounts/ports/index.ts';
import { LEDGER_DATABASES, type LedgerStorage } from './ledger-databases.ts';
import { rejection } from '../../support/rejection.ts';
import { attempt, generation } from '../../support/storage/storage-records.ts';

const HOUR = 3_600_000;
/** End users, as in records. */
const [ANN, BEN] = ['a'.repeat(32), 'b'.repeat(32)];
const NOON = Date.UTC(2026, 10, 20, 12);

function recordAt(createdAt: number, over: Partial<GenerationRecord> = {}): GenerationRecord {
  return generation(newGenerationId(createdAt), { createdAt, ...over });
}

async function idsOf(
  storage: LedgerStorage,
  filters: GenerationFilters,
  order: 'asc' | 'desc',
  orderBy?: GenerationOrder,
): Promise<string[]> {
  const ids: string[] = [];
  for (let after: string | undefined; ; after = ids.at(-1)) {
    const page = await storage.ledger.list({ filters, order, orderBy, after, limit: 7 });
    ids.push(...page.generations.map(({ generation: g }) => g.id));
    if (!page.hasMore) return ids;
    expect(page.generations).toHaveLength(7);
  }
}

/** A request with its attempts. */
interface Tried {
  readonly g: GenerationRecord;
  readonly attempts: readonly AttemptRecord[];
}

const STATUSES: Readonly<Record<string, number>> = { failed: 502, limit: 429, bad: 400, cancelled: 499 };

const anyRecord: fc.Arbitrary<Tried> = fc
  .record({
    hour: fc.integer({ min: 0, max: 900 }),
    ms: fc.nat(HOUR - 1),
    keyId: fc.constantFrom('key_a', 'key_b'),
    project: fc.constantFrom(null, 'search'),
    model: fc.constantFrom('openai/gpt-5', 'acme/small_1'),
    end: fc.constantFrom('ok', 'failed', 'broken', 'limit', 'bad', 'cancelled'),
    usd: fc.constantFrom(null, 0, 0.25, 1),
    endUser: fc.constantFrom(null, ANN, BEN),
    earlier: fc.constantFrom<readonly string[]>([], [], ['down'], ['down', 'openai']),
    duration: fc.constantFrom(0, 40, 40, 900),
    first: fc.constantFrom(null, 10, 30),
  })
  .map(({ hour, ms, keyId, project, model, end, usd, endUser, earlier, duration, first }) => {
    const createdAt = NOON - hour * HOUR - ms;
    const isLimited = end === 'limit';
    const g = recordAt(createdAt, {
      keyId,
      projectId: project ?? keyId,
      model: end === 'failed' || isLimited ? null : model,
      provider: end === 'failed' || isLimited ? null : 'openai',
      endpoint: end === 'failed' || isLimited ? null : 'openai',
      requestedModel: model,
      endUser,
      endedAt: createdAt + duration,
      firstContentAt:
        end === 'broken' ? createdAt + 5 : first === null || end !== 'ok' ? null : createdAt + first,
      status: STATUSES[end] ?? 200,
      cancelled: end === 'cancelled',
      error:
        end === 'ok' || end === 'cancelled'
          ? null
          : {
              kind: isLimited ? 'rate_limited' : end === 'bad' ? 'invalid_request' : 'timeout',
              message: 'no',
              upstreamStatus: null,
            },
      cost: { usd, items: {}, price: null },
    });
    const providers = isLimited ? [] : [...earlier, 'openai'];
    const attempts = providers.map((provider, ordinal) =>
      attempt(`${g.id}-${ordinal}`, g.id, {
        ordinal,
        provider,
        endpoint: provider,
        outcome:
          ordinal < providers.length - 1 || end === 'failed' || end === 'broken' ? 'failed' : 'completed',
      }),
    );
    return { g: { ...g, attempts: attempts.length }, attempts };
  });
const anyFilters: fc.Arbitrary<GenerationFilters> = fc.record(
  {
    project: fc.constantFrom(['search'], ['key_a', 'search'], ['nowhere']),
    key: fc.constantFrom(['key_a'], []),
    model: fc.constantFrom(['openai/gpt-5']),
    requestedModel: fc.constantFrom(['acme/small_1']),
    status: fc.constantFrom([200, 499], [400, 502]),
    outcome: fc.constantFrom(
      ['failed'] as const,
      ['ok'] as const,
      ['ok', 'cancelled'] as const,
      ['refused'] as const,
    ),
    state: fc.constantFrom(
      ['recovered'] as const,
      ['ok', 'failed'] as const,
      ['broken_stream', 'limit_reached', 'rejected'] as const,
    ),
    attempted: fc.constantFrom(['down'], ['openai'], ['nowhere']),
    errorKind: fc.constantFrom(['timeout'], ['rate_limited', 'invalid_request']),
    minCostUsd: fc.constantFrom(0, 0.25, 0.3),
    minDurationMs: fc.constantFrom(0, 40, 40.5, 41),
    minAttempts: fc.constantFrom(1, 2, 3),
    text: fc.constantFrom(
      { text: 'SMALL_', keyIds: [] },
      { text: 'mall%', keyIds: [] },
      { text: 'nothing', keyIds: ['key_b'] },
    ),
    slowerThan: fc.constantFrom(
      [{ model: 'openai/gpt-5', endpoint: 'openai', ms: 40 }],
      [
        { model: 'openai/gpt-5', endpoint: 'openai', ms: 39.5 },
        { model: 'acme/small_1', endpoint: 'openai', ms: 40 },
        { model: 'acme/small_1', endpoint: 'down', ms: 0 },
      ],
      [
        { model: 'openai/gpt-5', endpoint: 'openai', ms: 0 },
        { model: 'acme/small_1', endpoint: 'openai', ms: 40 },
      ],
      [],
    ),
    endUser: fc.constantFrom([ANN], [ANN, BEN], ['f'.repeat(32)], ['nobody', ''], []),
    fromMs: fc.nat(900 * HOUR).map((ago) => NOON - ago),
    toMs: fc.nat(900 * HOUR).map((ago) => NOON - ago),
  },
  { requiredKeys: [] },
);

function passes({ g, attempts }: Tried, f: GenerationFilters): boolean {
  const model = g.model ?? g.requestedModel;
  const endpoint = g.endpoint ?? attempts.at(-1)?.endpoint ?? '';
  const { text } = f;
  return (
    (!f.project || f.project.includes(g.projectId)) &&
    (!f.key || f.key.includes(g.keyId)) &&
    (!f.model || f.model.includes(model)) &&
    (!f.requestedModel || f.requestedModel.includes(g.requestedModel)) &&
    (!f.status || f.status.includes(g.status)) &&
    (!f.endUser || f.endUser.includes(g.endUser ?? '')) &&
    (!f.outcome || f.outcome.includes(outcomeOf(g, attempts))) &&
    (!f.state || f.state.includes(requestState(g, attempts))) &&
    (!f.attempted || attempts.some(({ provider }) => f.attempted?.includes(provider))) &&
    (!f.errorKind || f.errorKind.includes(g.error?.kind ?? '')) &&
    (f.minCostUsd === undefined || (g.cost?.usd ?? -1) >= f.minCostUsd) &&
    (f.minDurationMs === undefined || g.endedAt - g.createdAt >= f.minDurationMs) &&
    (f.minAttempts === undefined || attempts.length >= f.minAttempts) &&
    (!text || model.includes(text.text.toLowerCase()) || text.keyIds.includes(g.keyId)) &&
    (!f.slowerThan ||
      f.slowerThan.some(
        (usual) => usual.model === model && usual.endpoint === endpoint && g.endedAt - g.createdAt > usual.ms,
      )) &&
    (f.fromMs === undefined || g.createdAt >= f.fromMs) &&
    (f.toMs === undefined || g.createdAt < f.toMs)
  );
}

/** Order of ids by a measure; what has none of it is last. */
function ordered(all: readonly Tried[], by: GenerationOrder, order: 'asc' | 'desc'): readonly string[] {
  const sign = order === 'asc' ? 1 : -1;
  const missing = order === 'asc' ? Infinity : -1;
  const valueOf = ({ g }: Tried): number => {
    if (by === 'duration') return g.endedAt - g.createdAt;
    if (by === 'first_content') return g.firstContentAt === null ? missing : g.firstContentAt - g.createdAt;
    if (by === 'cost') return g.cost?.usd ?? missing;
    return 0;
  };
  const compare = (a: Tried, b: Tried): number => {
    const [one, other] = [valueOf(a), valueOf(b)];
    return one === other ? (a.g.id < b.g.id ? -1 : 1) * sign : one < other ? -sign : sign;
  };
  return all.toSorted(compare).map(({ g }) => g.id);
}

async function checkCounts(
  { ledger }: LedgerStorage,
  filters: GenerationFilters,
  passing: readonly Tried[],
): Promise<void> {
  for (const edges of EDGES) await checkIntervals(ledger, filters, passing, edges);
  for (const by of GENERATION_FACETS) {
    const found = await ledger.facet(filters, by);
    if (by === 'error_kind') continue;
    expect(found.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(passing.length);
    if (by !== 'key') continue;
    const counts = Map.groupBy(passing, ({ g }) => g.keyId);
    expect(Object.fromEntries(found.map(({ value, count }) => [value, count]))).toEqual(
      Object.fromEntries([...counts].map(([value, own]) => [value, own.length])),
    );
  }
}

/** Intervals of hours, of days, one alone, and some that sums know nothing of. */
const EDGES: readonly (readonly number[])[] = [
  Array.from({ length: 11 }, (_, at) => NOON - (1_000 - at * 100) * HOUR),
  Array.from({ length: 22 }, (_, at) => NOON - 12 * HOUR - (20 - at) * 48 * HOUR),
  [NOON - 700.5 * HOUR, NOON - 3.25 * HOUR],
  [NOON - 1_000 * HOUR, NOON],
  Array.from({ length: 5 }, (_, at) => NOON - (40 - at * 10.1) * HOUR),
];

async function checkIntervals(
  ledger: LedgerStorage['ledger'],
  filters: GenerationFilters,
  passing: readonly Tried[],
  edges: readonly number[],
): Promise<void> {
  const { intervals, isExact } = await ledger.count({ filters, edges });
  expect(isExact).toBe(true);
  const stateOf = ({ g, attempts }: Tried): number => REQUEST_STATES.indexOf(requestState(g, attempts));
  expect(intervals).toEqual(
    edges.slice(0, -1).map((startMs, interval) => {
      const endMs = edges[interval + 1] ?? 0;
      const own = passing.filter(({ g }) => g.createdAt >= startMs && g.createdAt < endMs);
      const states = REQUEST_STATES.map((_, state) => own.filter((each) => stateOf(each) === state).length);
      return { startMs, count: own.length, states };
    }),
  );
}

describe.each(LEDGER_DATABASES)('$name', (database) => {
  test('records that match are listed in the order of the requests, page by page, whether or not the sums contain them', async () => {
    const records = fc.array(anyRecord, { minLength: 10, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(records, fc.array(anyFilters, { minLength: 4, maxLength: 4 }), async (all, some) => {
        await using storage = await (await database.fresh())();
        const check = async (): Promise<void> => {
          for (const [at, filters] of [{}, ...some].entries()) {
            const passing = all.filter((record) => passes(record, filters));
            const by = GENERATION_ORDERS[at % GENERATION_ORDERS.length];
            for (const order of ['asc', 'desc'] as const) {
              expect(await idsOf(storage, filters, order)).toEqual([...ordered(passing, 'time', order)]);
              expect(await idsOf(storage, filters, order, by)).toEqual([
                ...ordered(passing, by ?? 'time', order),
              ]);
            }
            await checkCounts(storage, filters, passing);
          }
        };
        for (const { g, attempts } of all) storage.ledger.append(g, attempts);
        await check();
        while (await storage.usage.maintain(NOON));
        await check();
      }),
      { numRuns: database.runs },
    );
  });

  test('counts equal the existing records, after any deletion of records or sums', async () => {
    await using storage = await (await database.fresh())();
    const [model, other] = ['openai/gpt-5', 'acme/small_1'];
    // One in each hour of six days.
    for (let hour = 1; hour <= 6 * 24; hour += 1) {
      const name = hour % 3 === 0 ? model : other;
      storage.ledger.append(recordAt(NOON - hour * HOUR, { model: name, requestedModel: name }), []);
    }
    const first = NOON - 6 * 24 * HOUR;
    const edges = Array.from({ length: 8 }, (_, at) => first - 12 * HOUR + at * 24 * HOUR);
    const countOf = async (filters: GenerationFilters): Promise<readonly number[]> =>
      (await storage.ledger.count({ filters, edges })).intervals.map(({ count }) => count);
    expect(await countOf({})).toEqual([12, 24, 24, 24, 24, 24, 12]);
    while (await storage.usage.maintain(NOON + HOUR));
    expect(await countOf({ model: [model] })).toEqual([4, 8, 8, 8, 8, 8, 4]);
    while ((await storage.usage.purge(first + 60 * HOUR)) > 0);
    expect(await countOf({})).toEqual([12, 24, 24, 24, 24, 24, 12]);
    while ((await storage.ledger.purge(first + 84 * HOUR)) > 0);
    expect(await countOf({})).toEqual([0, 0, 0, 0, 24, 24, 12]);
    expect(await countOf({ model: [model], fromMs: NOON - 20.5 * HOUR })).toEqual([0, 0, 0, 0, 0, 2, 4]);
    const filters = { fromMs: first, toMs: NOON };
    expect(await storage.ledger.facet(filters, 'state')).toEqual([{ value: 'ok', count: 60 }]);
  });

  test('the slowest and the cheapest of two months are found, page by page', async () => {
    await using storage = await (await database.fresh())();
    // Two a day. Durations and costs are spread over all days; some costs are unknown.
    const records = Array.from({ length: 120 }, (_, at) => {
      const createdAt = NOON - at * 12 * HOUR;
      const usd = at % 5 === 0 ? null : ((at * 37) % 120) / 1_000;
      return recordAt(createdAt, {
        endedAt: createdAt + ((at * 53) % 120),
        cost: { usd, items: {}, price: null },
      });
    });
    for (const record of records) storage.ledger.append(record, []);
    const all = records.map((g) => ({ g, attempts: [] }));
    const since = NOON - 45 * 24 * HOUR;
    for (const filters of [{}, { toMs: NOON + 1 }, { fromMs: since, toMs: NOON - 50 * HOUR }]) {
      const some = all.filter((record) => passes(record, filters));
      for (const by of ['duration', 'cost'] as const)
        for (const order of ['asc', 'desc'] as const)
          expect(await idsOf(storage, filters, order, by)).toEqual([...ordered(some, by, order)]);
    }
  });

  test('records without an end user are found by the empty name', async () => {
    await using storage = await (await database.fresh())();
    const [of, none] = [recordAt(NOON, { endUser: ANN }), recordAt(NOON + 1)];
    for (const record of [of, none]) storage.ledger.append(record, []);
    expect(await idsOf(storage, { endUser: ['', BEN] }, 'asc')).toEqual([none.id]);
    expect(await idsOf(storage, { endUser: [ANN] }, 'asc')).toEqual([of.id]);
  });

  test('a page continues after a generation that was deleted, and an entry has its attempts', async () => {
    await using storage = await (await database.fresh())();
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
  });
});
