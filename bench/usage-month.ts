// Duration of reports over the sums of a month, for each dimension. `node bin/bun.mjs run bench/usage-month.ts
// sqlite|postgres [RECORDS]` writes the sums of an hour and a day, and copies them in the database as if RECORDS (20
// million) had been written: hours and days of 50 keys, each with 4 models at 2 providers. The records themselves do
// not exist, so that a report which read them would be wrong. All reports are compared with the generated sums.
// PostgreSQL runs as a separate server.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { Client } from 'pg';
import { GatewayError } from '../src/canonical/index.ts';
import { newGenerationId } from '../src/base/runtime/ids.ts';
import { rowsOf } from '../src/storage/tables/database.ts';
import { packed } from '../src/storage/ledger/packed-details.ts';
import { Sums } from '../src/storage/ledger/sums.ts';
import { type Group, groupOf } from '../src/storage/ledger/usage-groups.ts';
import { DAY_SPANS, FOLDED, HOUR_SPANS } from '../src/storage/ledger/usage-tables.ts';
import { UsageWriter } from '../src/storage/ledger/usage-writer.ts';
import {
  type Storage,
  USAGE_DIMENSIONS,
  type UsageDimension,
  type UsageQuery,
} from '../src/accounts/ports/index.ts';
import { openWith as openPostgres } from '../src/storage/postgres/storage.ts';
import { POSTGRES_STORES } from '../src/storage/tables/stores.ts';
import { openWith as openSqlite } from '../src/storage/sqlite/storage.ts';
import { STATE_STORES } from '../src/storage/tables/stores.ts';
import type { Database } from '../src/storage/tables/database.ts';
import {
  countAttempt,
  countFacts,
  noUsageSums,
  USAGE_COUNTS,
  usageFactsOf,
  type UsageSums,
} from '../src/accounts/usage/index.ts';
import { startPostgres } from '../test/support/servers/postgres.ts';
import { aligned } from './report.ts';
import { sampleRecord } from './sample-records.ts';

const HOUR_MS = 3_600_000;
const END = Date.UTC(2026, 10, 1);
const [DAYS, KEYS, MODELS, PROVIDERS, SAMPLES] = [30, 50, 4, 2, 200] as const;
const ROUNDS = 5;
const MONTH = { fromMs: END - DAYS * 24 * HOUR_MS, toMs: END } as const;

/** All single dimensions of the API, some pairs, and all together. */
const DIVIDED: readonly (readonly UsageDimension[])[] = [
  [],
  ...USAGE_DIMENSIONS.map((name) => [name]),
  ['project', 'key'],
  ['model', 'provider'],
  USAGE_DIMENSIONS,
];
const QUESTIONS: readonly (readonly [string, Omit<UsageQuery, 'fromMs' | 'toMs'>])[] = [
  ...([null, 'month', 'day', 'hour'] as const).flatMap((interval) =>
    DIVIDED.map((groupBy) => {
      const name = ['a month', interval && `by ${interval}`, ...groupBy.map((each) => `by ${each}`)];
      return [name.filter(Boolean).join(' '), { interval, groupBy, filters: {} }] as const;
    }),
  ),
  ['one key by hour', { interval: 'hour', groupBy: [], filters: { key: ['key_7'] } }],
  ['one model by day and key', { interval: 'day', groupBy: ['key'], filters: { model: ['model_2'] } }],
];

/** Sums of one hour for each group, as a share of all records. */
function sumsOfHour(records: number): UsageSums {
  const sums = noUsageSums();
  const times = records / (DAYS * 24 * KEYS * MODELS * PROVIDERS) / SAMPLES;
  for (let number = 0; number < SAMPLES; number += 1) {
    const { generation, attempts } = sampleRecord(newGenerationId(END), END, number);
    countFacts(sums, usageFactsOf(generation, attempts, false));
    for (const attempt of attempts) countAttempt(sums.counts, attempt);
  }
  for (const name of USAGE_COUNTS) sums.counts[name] = Math.round(sums.counts[name] * times);
  return sums;
}

function groups(): readonly Group[] {
  const all: Group[] = [];
  for (let key = 0; key < KEYS; key += 1)
    for (let model = 0; model < MODELS; model += 1)
      for (let provider = 0; provider < PROVIDERS; provider += 1) {
        const name = `provider_${(model + provider) % 3}`;
        const names = {
          project: `project_${key % 8}`,
          key: `key_${key}`,
          model: `model_${(key + model) % 6}`,
        };
        const rest = { protocol: 'openai-chat', requested_model: names.model, outcome: 'ok' };
        all.push(groupOf({ ...names, provider: name, endpoint: name, ...rest }));
      }
  return all;
}

/** Writes the first hour and its day as the gateway does, and copies them in the database. */
async function fillMonth(
  database: Database,
  records: number,
  series: (rows: number) => string,
): Promise<void> {
  const writer = new UsageWriter(database);
  const sums = new Sums();
  const { counts: ofHour, details } = sumsOfHour(records);
  const hour = { counts: ofHour, details: packed(details) };
  for (const group of groups()) sums.fold(FIRST_HOUR, group, hour);
  await database.transact(() => writer.add(sums));
  const counts = USAGE_COUNTS.map((name) => `"${name}"`);
  const run = (text: string): Promise<unknown> => database.ask(() => rowsOf(sql.raw(text)));
  const [hours, days] = [HOUR_SPANS.join(), DAY_SPANS.join()];
  for (const [spans, rows] of [
    [hours, DAYS * 24],
    [days, DAYS],
  ] as const) {
    const copied = `from usage u cross join (${series(rows)}) s where span in (${spans}) and s.n > 0`;
    await run(`insert into usage select span, period + s.n, grp, ${counts}, details ${copied}`);
  }
  await run(
    `update usage set ${counts.map((name) => `${name} = ${name} * 24`).join()} where span in (${days})`,
  );
  await run(
    `insert into settings (name, value) values ('${FOLDED}', '${JSON.stringify({ hour: END / HOUR_MS, group: 0 })}')
    on conflict (name) do update set value = excluded.value`,
  );
}

const FIRST_HOUR = MONTH.fromMs / HOUR_MS;

/** Does the background work of a gateway at the end of the month. */
async function maintained({ usage }: Pick<Storage, 'usage'>): Promise<void> {
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  let steps = 0;
  let longest = 0;
  for (let isMore = true; isMore; steps += 1) {
    const from = performance.now();
    isMore = await usage.maintain(END);
    longest = Math.max(longest, performance.now() - from);
  }
  const { user, system } = process.cpuUsage(cpu);
  const ms = [performance.now() - start, (user + system) / 1_000, longest].map((each) => each.toFixed(0));
  console.log(
    `in the background: ${steps} steps, ${ms[0]} ms, of which CPU ${ms[1]}; the longest ${ms[2]} ms`,
  );
}

interface Opened {
  readonly storage: Pick<Storage, 'usage'>;
  readonly close: () => Promise<void>;
}

async function openOnSqlite(records: number): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-month-'));
  const path = join(folder, 'dragoman.db');
  const { database, ...storage } = await openSqlite(
    { ...STATE_STORES, database: { open: (own: Database) => own } },
    { path, later: () => {} },
  );
  await fillMonth(
    database,
    records,
    (rows) =>
      `with recursive series(n) as (select 0 union all select n + 1 from series where n < ${rows - 1}) select n from series`,
  );
  await maintained(storage);
  return {
    storage,
    async close() {
      await storage.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function openOnPostgres(records: number): Promise<Opened> {
  const server = await startPostgres({ shared_buffers: '256MB' });
  const { database, ...storage } = await openPostgres(
    { ...POSTGRES_STORES, database: { open: (own: Database) => own } },
    { url: server.url, later: () => {}, statementMs: 600_000 },
  );
  await fillMonth(database, records, (rows) => `select generate_series(0, ${rows - 1}) as n`);
  const client = new Client({ connectionString: server.url });
  await client.connect();
  await client.query('analyze');
  await client.end();
  await maintained(storage);
  return {
    storage,
    async close() {
      await storage.close();
      await server.stop();
    },
  };
}

interface Asked {
  readonly rows: number;
  readonly requests: number;
  readonly ms: number;
  readonly cpuMs: number;
}

/** Null: the answer would have too many rows. */
async function ask({ usage }: Pick<Storage, 'usage'>, query: UsageQuery): Promise<Asked | null> {
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  try {
    const { rows } = await usage.query(query);
    const ms = performance.now() - start;
    const { user, system } = process.cpuUsage(cpu);
    const requests = rows.reduce((sum, row) => sum + row.sums.counts.requests, 0);
    return { rows: rows.length, requests, ms, cpuMs: (user + system) / 1_000 };
  } catch (error) {
    if (GatewayError.is(error) && error.kind === 'invalid_request') return null;
    throw error;
  }
}

const [database = 'sqlite', given = '20000000'] = process.argv.slice(2);
const opened = await (database === 'postgres' ? openOnPostgres : openOnSqlite)(Number(given));
try {
  const whole = { ...MONTH, interval: null, groupBy: [], filters: {} } as const;
  const made = (await ask(opened.storage, whole))?.requests ?? 0;
  console.log(`${database}: sums of ${made.toLocaleString('en')} requests`);
  const rows: string[][] = [['question', 'rows', 'best ms', 'usually', 'CPU of the gateway']];
  for (const [name, query] of QUESTIONS) {
    const rounds: Asked[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const asked = await ask(opened.storage, { ...MONTH, ...query });
      if (!asked) break;
      rounds.push(asked);
      const isWhole = Object.keys(query.filters).length === 0;
      if (isWhole && asked.requests !== made)
        throw new Error(`${name}: ${asked.requests} requests instead of ${made}`);
    }
    const inOrder = (of: (asked: Asked) => number): readonly string[] =>
      rounds
        .map(of)
        .toSorted((a, b) => a - b)
        .map((each) => each.toFixed(0));
    const [times, cpu] = [inOrder(({ ms }) => ms), inOrder(({ cpuMs }) => cpuMs)];
    const middle = Math.floor(ROUNDS / 2);
    const { rows: many } = rounds[0] ?? { rows: 'too many' };
    rows.push([name, String(many), times[0] ?? '', times[middle] ?? '', cpu[middle] ?? '']);
  }
  console.log(aligned(rows));
} finally {
  await opened.close();
}
process.exit(0);
