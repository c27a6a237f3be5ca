// Rows of the ledger: what is left out because it is as usual comes back, and a usual record is small.
import { expect, test } from 'bun:test';
import { NO_USAGE, routeTable, type JsonObject, type RouteTrace } from '../src/canonical/index.ts';
import type { AttemptRecord, GenerationRecord } from '../src/ledger/index.ts';
import {
  decodeGeneration,
  decodeOwnAttempt,
  encodeGeneration,
  GENERATION_COLUMNS,
} from '../src/storage/ledger-rows.ts';
import type { GenerationTable } from '../src/storage/schema.ts';
import { attempt as sampleAttempt, generation as sampleGeneration } from './storage-records.ts';

function thereAndBack(g: GenerationRecord, a: AttemptRecord): readonly [GenerationRecord, unknown] {
  const values = encodeGeneration(g, a);
  const row = Object.fromEntries(GENERATION_COLUMNS.map((name, at) => [name, values[at]]));
  const generation = decodeGeneration(row as unknown as GenerationTable, undefined);
  return [generation, decodeOwnAttempt(row as unknown as GenerationTable, generation)];
}

const usage = { ...NO_USAGE, input: { ...NO_USAGE.input, uncached: 12 }, raw: { prompt_tokens: 12 } };
const cost = { usd: 0.001, items: { input: 0.001 }, price: { input: 1, source: 'test' } };

test.each<readonly [string, Partial<GenerationRecord>, Partial<AttemptRecord>]>([
  ['as usual', { usage, cost }, { usage, cost }],
  ['charged otherwise than its generation', { usage: null, cost }, { usage, cost: null }],
  [
    'failed, elsewhere and without an answer',
    { provider: null, endpoint: null, lane: null, status: 502, firstContentAt: null },
    {
      status: null,
      outcome: 'failed',
      error: { kind: 'timeout', message: 'late', upstreamStatus: null },
      firstContentAt: null,
    },
  ],
  ['with an id and a place of its own', {}, { id: 'att_x', ordinal: 3, status: 429, upstreamId: 'up' }],
])('an only attempt, %s, comes back with its generation', (_, generation, attempt) => {
  const g = sampleGeneration('g1', generation);
  const a = sampleAttempt('g1-0', 'g1', attempt);
  const [readGeneration, readAttempt] = thereAndBack(g, a);
  expect(readGeneration).toEqual(g);
  expect(readAttempt).toEqual(a);
});

test('the route of a record is read as a table, also of one that was written as a table', () => {
  const trace: RouteTrace = [[['west', 'm/one', null, null, [1, 4], 8000]]];
  const table = {
    requested_model: 'm/one',
    strategy: {
      type: 'priority',
      primary_factor: null,
      fallback: true,
      stream_safety: 'error',
      hedge: false,
    },
    models: null,
    candidates: [
      {
        position: 1,
        endpoint: 'west',
        provider: 'west',
        model: 'm/one',
        score: null,
        reason: 'priority 1',
        price: { input: 1, output: 4 },
        context_length: 8000,
        context_learned: false,
        first_token_ms: null,
        answer_ms: null,
        tokens_per_second: null,
        success_rate: null,
        in_flight: 0,
        state: 'closed',
        cache_hit_rate: null,
        holds_cache: false,
      },
    ],
    excluded: [],
  } satisfies JsonObject;
  for (const route of [trace, table]) {
    const g = sampleGeneration('g1', { route });
    const [read] = thereAndBack(g, sampleAttempt('g1-0', 'g1'));
    expect(read.route && routeTable(read.route, 'm/one')).toEqual(table);
  }
});
