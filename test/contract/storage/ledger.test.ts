// Records in the compact form: whatever a record says comes back as it was, and a usual one is small.
import { describe, expect, test } from 'bun:test';
import { statSync } from 'node:fs';
import fc from 'fast-check';
import type { JsonValue } from '../../../src/base/json/index.ts';
import { NO_USAGE, type RouteTrace, routeTable, type Usage } from '../../../src/canonical/index.ts';
import type { AttemptRecord, Cost, GenerationRecord } from '../../../src/accounts/ledger/index.ts';
import { CompactReader } from '../../../src/storage/compact/reader.ts';
import { CompactWriter } from '../../../src/storage/compact/writer.ts';
import { openSqlite } from '../../../src/base/runtime/sqlite.ts';
import { newGenerationId } from '../../../src/base/runtime/ids.ts';
import { openSqliteStorage } from '../../../src/storage/sqlite/storage.ts';
import { LEDGER_DATABASES, type OpenLedger } from './ledger-databases.ts';
import { freshPath } from '../../support/storage/storage-directory.ts';
import {
  attempt as sampleAttempt,
  COST,
  generation as sampleGeneration,
  USAGE,
} from '../../support/storage/storage-records.ts';

type Found = { readonly generation: GenerationRecord; readonly attempts: readonly AttemptRecord[] };

/** A record as storage gives it back, appended last of several: written out, then with names for its texts. */
async function thereAndBack(
  generation: GenerationRecord,
  attempts: readonly AttemptRecord[],
  open: OpenLedger = () => openSqliteStorage({ path: ':memory:' }),
): Promise<Found[]> {
  const storage = await open();
  const found: Found[] = [];
  for (let round = 0; round < 4; round++) {
    // Each find brings in what was written before, and with it the names of texts that were seen twice.
    const id = newGenerationId(round);
    const own = attempts.map((attempt) => ({
      ...attempt,
      generationId: id,
      id: attempt.id.replace(generation.id, id),
    }));
    storage.ledger.append({ ...generation, id }, own);
    const read = await storage.ledger.find(id, generation.projectId);
    if (!read) throw new Error('not found');
    found.push({
      generation: { ...read.generation, id: generation.id },
      attempts: read.attempts.map((attempt) => ({
        ...attempt,
        generationId: generation.id,
        id: attempt.id.replace(id, generation.id),
      })),
    });
  }
  await storage.close();
  return found;
}

const usage = { ...NO_USAGE, input: { ...NO_USAGE.input, uncached: 12 }, raw: { prompt_tokens: 12 } };
const cost = { usd: 0.001, items: { input: 0.001 }, price: { input: 1, source: 'test' } };

test.each<readonly [string, Partial<GenerationRecord>, readonly Partial<AttemptRecord>[]]>([
  ['as usual', { usage, cost }, [{ usage, cost }]],
  ['with an attempt charged otherwise', { usage: null, cost }, [{ usage, cost: null }]],
  [
    'that failed at another provider without a response',
    { provider: null, endpoint: null, lane: null, status: 502, firstContentAt: null },
    [
      {
        status: null,
        outcome: 'failed',
        error: { kind: 'timeout', message: 'late', upstreamStatus: null },
        firstContentAt: null,
      },
    ],
  ],
  ['with its own ids and positions', {}, [{ id: 'att_x', ordinal: 3, status: 429, upstreamId: 'up' }]],
  [
    'with three attempts',
    { attempts: 3 },
    [{ id: 'g1-0' }, { id: 'g1-1', ordinal: 1 }, { ordinal: 2, usage }],
  ],
  ['of several turns', { turns: 3 }, []],
  ['that repeats another', { replayOf: 'b'.repeat(32) }, []],
  [
    'that repeats another of an end user',
    { replayOf: 'b'.repeat(32), projectId: 'p', endUser: 'a'.repeat(32) },
    [],
  ],
  ['of several turns for an end user', { turns: 2, projectId: 'p', endUser: 'a'.repeat(32) }, []],
  ['without any', { attempts: 0, usage: null, cost: null, report: [] }, []],
  ['with times between milliseconds', { createdAt: 1e12 + 0.1, endedAt: 2e12 + 1 / 3 }, [{ startedAt: 7.7 }]],
  ['that began before it was made', { endedAt: 1_699_999_999_000 }, [{ startedAt: 5 }]],
  ['with a member called as a prototype', { metadata: JSON.parse('{"__proto__":"x"}') }, []],
])('a record %s is read as it was written', async (_, generation, attempts) => {
  const g = sampleGeneration('g1', generation);
  const own = attempts.map((attempt) => sampleAttempt('g1-0', 'g1', attempt));
  for (const found of await thereAndBack(g, own)) expect(found).toEqual({ generation: g, attempts: own });
});

const anyCount = fc.oneof(
  fc.constant(0),
  fc.nat(),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const anyText = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('\ud800', 'ü\udc00'));
const anyJson = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>;
const anyUsage: fc.Arbitrary<Usage> = fc.record({
  input: fc.record({
    uncached: anyCount,
    cacheRead: anyCount,
    cacheWrite5m: anyCount,
    cacheWrite1h: anyCount,
    audio: anyCount,
    image: anyCount,
  }),
  output: fc.record({ text: anyCount, reasoning: anyCount, audio: anyCount }),
  tools: fc.dictionary(anyText, fc.nat()),
  acceptedPrediction: anyCount,
  rejectedPrediction: anyCount,
  estimated: fc.boolean(),
  raw: anyJson,
});
const anyCost: fc.Arbitrary<Cost> = fc.record({
  usd: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
  items: fc.dictionary(
    fc.constantFrom('input', 'output', 'tools'),
    fc.double({ min: 0, max: 1e6, noNaN: true }),
  ),
  price: anyJson,
});
const anyError = fc.record({
  kind: fc.constantFrom('timeout', 'rate_limited'),
  message: anyText,
  upstreamStatus: fc.option(fc.nat(599)),
});
const anyTime = fc.oneof(fc.integer({ min: 0, max: 4e12 }), fc.double({ min: 0, max: 4e12, noNaN: true }));
/** Text that has a column: it is UTF-8. */
const anyName = fc.string({ unit: 'grapheme' });
const anyHash = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 32, maxLength: 32 });
const anyGeneration = fc.record({
  keyId: anyName,
  projectId: anyName,
  endUser: fc.option(anyHash),
  requestedModel: anyText,
  // One that ran has a name: PostgreSQL keeps the empty one for those of which none ran.
  model: fc.option(anyName.filter((name) => name !== '')),
  endpoint: fc.option(anyText),
  lane: fc.option(fc.constantFrom('relay', 'translate')),
  streamed: fc.boolean(),
  cancelled: fc.boolean(),
  createdAt: anyTime,
  firstContentAt: fc.option(anyTime),
  endedAt: anyTime,
  finishReason: fc.option(anyText),
  nativeFinishReason: fc.option(anyText),
  attempts: fc.nat(9),
  turns: fc.integer({ min: 1, max: 24 }),
  replayOf: fc.constantFrom(null, 'b'.repeat(32)),
  usage: fc.option(anyUsage),
  cost: fc.option(anyCost),
  report: fc.array(fc.record({ path: anyText, action: fc.constant('dropped'), reason: anyText })),
  error: fc.option(anyError),
  metadata: fc.option(fc.dictionary(anyText, anyText)),
  content: fc.option(fc.record({ request: anyJson, answer: anyJson })),
}) as fc.Arbitrary<Partial<GenerationRecord>>;
const anyAttempt = fc.record({
  provider: anyText,
  model: anyText,
  startedAt: anyTime,
  endedAt: anyTime,
  outcome: fc.constantFrom('completed', 'failed', 'cancelled'),
  status: fc.option(fc.nat(599)),
  upstreamId: fc.option(anyText),
  error: fc.option(anyError),
  usage: fc.option(anyUsage),
  cost: fc.option(anyCost),
}) as fc.Arbitrary<Partial<AttemptRecord>>;

describe.each(LEDGER_DATABASES)('$name', (database) => {
  test('any record is read as JSON would have stored it', async () => {
    const asJson = (found: Found): unknown => JSON.parse(JSON.stringify(found));
    await fc.assert(
      fc.asyncProperty(
        anyGeneration,
        fc.array(anyAttempt, { maxLength: 3 }),
        async (generation, attempts) => {
          const g = sampleGeneration('g1', generation);
          const own = attempts.map((attempt, ordinal) =>
            sampleAttempt(`g1-${ordinal}`, 'g1', { ordinal, ...attempt }),
          );
          const expected = asJson({ generation: g, attempts: own });
          for (const found of await thereAndBack(g, own, await database.fresh()))
            expect(asJson(found)).toEqual(expected);
        },
      ),
      { numRuns: 3 * database.runs },
    );
  });

  test('a generation and its attempts are read as they were written', async () => {
    await using storage = await (await database.fresh())();
    const error = { kind: 'rate_limited', message: 'slow down', upstreamStatus: 429 } as const;
    const whole = sampleGeneration('gen-1', {
      attempts: 2,
      content: { request: { messages: ['hi'] }, answer: { text: 'ho' } },
    });
    const attempts = [
      sampleAttempt('att-1', 'gen-1', {
        outcome: 'failed',
        status: 429,
        upstreamId: null,
        firstContentAt: null,
        usage: null,
        cost: null,
        error,
      }),
      sampleAttempt('att-2', 'gen-1', {
        ordinal: 1,
        provider: 'azure',
        usage: { ...USAGE, estimated: true },
        cost: { ...COST, usd: null },
      }),
    ];
    storage.ledger.append(whole, attempts);
    expect(await storage.ledger.find('gen-1', 'key_a')).toEqual({ generation: whole, attempts });

    const bare = sampleGeneration('gen-2', {
      model: null,
      provider: null,
      endpoint: null,
      lane: null,
      streamed: false,
      firstContentAt: null,
      status: 404,
      finishReason: null,
      nativeFinishReason: null,
      cancelled: true,
      attempts: 0,
      usage: null,
      cost: null,
      report: [],
      metadata: null,
      error,
    });
    storage.ledger.append(bare, []);
    expect(await storage.ledger.find('gen-2', 'key_a')).toEqual({ generation: bare, attempts: [] });

    // The usual case, in which one object serves as the usage of both.
    storage.ledger.append(sampleGeneration('gen-3'), [sampleAttempt('att-3', 'gen-3')]);
    expect((await storage.ledger.find('gen-3', 'key_a'))?.attempts[0]).toEqual(
      sampleAttempt('att-3', 'gen-3'),
    );
  });

  test("another key's generation is not found", async () => {
    await using storage = await (await database.fresh())();
    storage.ledger.append(sampleGeneration('gen-1'), []);
    expect(await storage.ledger.find('gen-1', 'key_b')).toBeNull();
    expect(await storage.ledger.find('gen-0', 'key_a')).toBeNull();
  });

  test('writing an id again changes nothing', async () => {
    await using storage = await (await database.fresh())();
    storage.ledger.append(sampleGeneration('gen-1'), [sampleAttempt('att-1', 'gen-1')]);
    storage.ledger.append(sampleGeneration('gen-1', { status: 500 }), [
      sampleAttempt('att-1', 'gen-1', { status: 500 }),
    ]);
    const found = await storage.ledger.find('gen-1', 'key_a');
    expect(found?.generation.status).toBe(200);
    expect(found?.attempts.map((a) => a.status)).toEqual([200]);
    // Later, and together with one that is new.
    storage.ledger.append(sampleGeneration('gen-1', { status: 500 }), []);
    storage.ledger.append(sampleGeneration('gen-2'), []);
    expect((await storage.ledger.find('gen-2', 'key_a'))?.generation.status).toBe(200);
    expect((await storage.ledger.find('gen-1', 'key_a'))?.attempts.length).toBe(1);
  });

  test('a record that cannot be written fails alone', async () => {
    await using storage = await (await database.fresh())();
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const bad = sampleGeneration('gen-2', { content: { request: circular as never, answer: null } });
    storage.ledger.append(sampleGeneration('gen-1'), []);
    expect(() => storage.ledger.append(bad, [])).toThrow('The record gen-2 cannot be written.');
    expect(await storage.ledger.find('gen-1', 'key_a')).not.toBeNull();
  });
});

test('JSON of any depth is read as it was written, and truncated bytes are an error', () => {
  const writer = new CompactWriter();
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 40, noUnicodeString: false } as object), (value) => {
      writer.reset();
      writer.json(value as JsonValue);
      const bytes = writer.written();
      expect(new CompactReader(bytes).value()).toEqual(JSON.parse(JSON.stringify(value)));
      expect(() => new CompactReader(bytes.subarray(0, -1)).value()).toThrow(RangeError);
    }),
  );
});

/** A record as most requests leave one: two endpoints to choose from, prices, an upstream that counts in detail. */
function usualRecord(n: number): [GenerationRecord, AttemptRecord[]] {
  const createdAt = 1_760_000_000_000 + n;
  const id = newGenerationId(createdAt);
  const [prompt, completion] = [100 + ((n * 37) % 4000), 10 + ((n * 53) % 900)];
  const times = { firstContentAt: createdAt + 300 + (n % 97), endedAt: createdAt + 1200 + (n % 997) };
  const charged = {
    usage: {
      ...NO_USAGE,
      input: { ...NO_USAGE.input, uncached: prompt },
      output: { ...NO_USAGE.output, text: completion },
      raw: {
        prompt_tokens: prompt,
        completion_tokens: completion,
        total_tokens: prompt + completion,
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0, accepted_prediction_tokens: 0 },
      },
    },
    cost: {
      usd: (prompt * 150_000 + completion * 600_000) / 1e12,
      items: { input: (prompt * 150_000) / 1e12, output: (completion * 600_000) / 1e12 },
      price: { input: 0.15, output: 0.6, cache_read: 0.075, source: 'genai-prices' },
    },
  };
  const route = [
    [
      [
        'openai',
        'openai/gpt-4o-mini',
        null,
        null,
        [0.15, 0.6],
        128_000,
        null,
        n % 800,
        n % 3000,
        n % 90,
        0.998,
      ],
      [
        'azure',
        'openai/gpt-4o-mini',
        null,
        'priority 2',
        [0.15, 0.6],
        128_000,
        null,
        n % 700,
        n % 2000,
        41,
        1,
      ],
    ],
  ] as unknown as RouteTrace;
  const generation = sampleGeneration(id, {
    ...charged,
    ...times,
    createdAt,
    route,
    keyId: 'key_0123456789abcdef01234567',
    projectId: 'key_0123456789abcdef01234567',
    requestedModel: 'gpt-4o-mini',
    model: 'openai/gpt-4o-mini',
    report: [],
    metadata: null,
  });
  const attempt = sampleAttempt(`${id}-0`, id, {
    ...charged,
    ...times,
    startedAt: createdAt + 4,
    upstreamId: `chatcmpl-${id.slice(0, 29)}`,
  });
  return [generation, [attempt]];
}

test('a usual record takes less than 500 bytes of the database, all included', async () => {
  const path = freshPath();
  const storage = await openSqliteStorage({ path });
  const sizeAfter = async (records: number, from: number): Promise<number> => {
    for (let n = from; n < from + records; n++) storage.ledger.append(...usualRecord(n));
    await storage.ledger.find('none', 'none');
    const database = openSqlite(path);
    database.prepare('pragma wal_checkpoint(truncate)').all();
    database.close();
    return statSync(path).size;
  };
  // Empty tables and journals are there already.
  const before = (await sizeAfter(20, 0), await sizeAfter(20, 20));
  const after = await sizeAfter(2_000, 40);
  expect((after - before) / 2_000).toBeLessThan(500);
  await storage.close();
});

test('the route of a record is read as a table, also of one that was written as a table', async () => {
  const trace: RouteTrace = [[['west', 'm/one', null, null, [1, 4], 8000]]];
  const table = routeTable(trace, 'm/one');
  for (const route of [trace, table]) {
    const [found] = await thereAndBack(sampleGeneration('g1', { route }), []);
    expect(found?.generation.route && routeTable(found.generation.route, 'm/one')).toEqual(table);
  }
});
