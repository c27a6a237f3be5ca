// Durations of the list of requests with its orders and counts, over the records of a month, for the queries of the
// console. Run it with a data directory (`test/console/busy-month.ts` fills one) or the URL of a PostgreSQL database:
// `node bin/bun.mjs run bench/list-scale.ts DIRECTORY-OR-ADDRESS`. Prints milliseconds, and the longest time that the
// event loop was blocked.
import { join } from 'node:path';
import type { GenerationFilters, GenerationQuery } from '../src/accounts/ports/index.ts';
import { openPostgresStorage } from '../src/storage/postgres/storage.ts';
import { openSqliteStorage } from '../src/storage/sqlite/storage.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ROUNDS = 3;

const [place = ''] = process.argv.slice(2);
const storage = place.includes('://')
  ? await openPostgresStorage({ url: place, later: () => {} })
  : await openSqliteStorage({ path: join(place, 'dragoman.db'), later: () => {} });
const nowMs = Date.now();
const month = { fromMs: nowMs - 31 * DAY_MS, toMs: nowMs };

const lists: Readonly<Record<string, Partial<GenerationQuery> & { filters: GenerationFilters }>> = {
  'newest of a month': { filters: month },
  'oldest of a month': { filters: month, order: 'asc' },
  'slowest of a month': { filters: month, orderBy: 'duration' },
  'slowest of a day': { filters: { ...month, fromMs: nowMs - DAY_MS }, orderBy: 'duration' },
  'dearest of a model': { filters: { ...month, model: ['openai/o4'] }, orderBy: 'cost' },
  'most tokens of a key': { filters: { ...month, key: ['key_140'] }, orderBy: 'tokens' },
  'broken streams': { filters: { ...month, state: ['broken_stream'] } },
  'failed, slowest first': { filters: { ...month, outcome: ['failed'] }, orderBy: 'duration' },
  'attempted elsewhere': { filters: { ...month, attempted: ['deepseek'], minAttempts: 2 } },
  'longer than all': { filters: { ...month, minDurationMs: 900_000 } },
  'text that nobody has': { filters: { ...month, text: { text: 'nothing-like-this', keyIds: [] } } },
  'text of a model': { filters: { ...month, text: { text: 'sonnet', keyIds: [] } } },
  'status that nobody has': { filters: { ...month, status: [418] } },
  'dear ones': { filters: { ...month, minCostUsd: 1_000 } },
};

let longest = 0;
let stopped = false;
void (async () => {
  while (!stopped) {
    const from = performance.now();
    await new Promise((resolve) => setImmediate(resolve));
    longest = Math.max(longest, performance.now() - from);
  }
})();

async function measured(what: string, ask: () => Promise<unknown>): Promise<void> {
  const times: number[] = [];
  longest = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const from = performance.now();
    await ask();
    times.push(performance.now() - from);
  }
  const best = Math.min(...times).toFixed(0);
  console.log(
    `${what.padEnd(32)} ${best.padStart(6)} ms, at worst ${Math.max(...times).toFixed(0)}; others waited ${longest.toFixed(0)}`,
  );
}

for (const [what, query] of Object.entries(lists))
  await measured(what, () => storage.ledger.list({ order: 'desc', limit: 100, ...query }));
for (const [what, filters] of [
  ['all', month],
  ['failed', { ...month, outcome: ['failed'] }],
  ['a model, over a second', { ...month, model: ['openai/o4'], minDurationMs: 1_000 }],
  ['ok', { ...month, state: ['ok'] }],
  ['a model', { ...month, model: ['openai/o4'] }],
  ['a provider', { ...month, provider: ['openai'] }],
  ['a key', { ...month, key: ['key_140'] }],
  ['a project', { ...month, project: ['team-7'] }],
  ['two attempts or more', { ...month, minAttempts: 2 }],
  ['0.003 USD or more', { ...month, minCostUsd: 0.003 }],
] as const) {
  // Whole days, as the management API queries them.
  const first = Math.floor(month.fromMs / DAY_MS) * DAY_MS;
  const edges = Array.from({ length: 33 }, (_, at) => first + at * DAY_MS);
  await measured(`counts of ${what}`, () => storage.ledger.count({ filters, edges }));
  await measured(`states of ${what}`, () => storage.ledger.facet(filters, 'state'));
  await measured(`models of ${what}`, () => storage.ledger.facet(filters, 'model'));
}
await measured('times of an endpoint', () => storage.ledger.times('openai/o4', 'openai', nowMs - DAY_MS));
stopped = true;
await storage.close();
process.exit(0);
