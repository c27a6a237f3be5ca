// How long reports take over the sums of a month of many records, for each thing that they can be divided by.
// `node bin/bun.mjs run bench/usage-month.ts sqlite|postgres [RECORDS]` writes some records through the ledger and multiplies
// their sums inside the database, as if RECORDS (20 million unless said otherwise) had been written: hours and days of 50
// keys, each with 4 models at 2 providers. The records themselves are not there, so that a report that read them would be wrong;
// each is compared with what was made. PostgreSQL is a server of its own.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { GatewayError } from '../src/canonical/index.ts';
import { newGenerationId } from '../src/runtime/ids.ts';
import { openSqlite } from '../src/runtime/sqlite.ts';
import {
  type Storage,
  USAGE_DIMENSIONS,
  type UsageDimension,
  type UsageQuery,
} from '../src/storage/ports.ts';
import { openWith } from '../src/storage/postgres/storage.ts';
import { STORES } from '../src/storage/postgres/stores.ts';
import { openSqliteStorage } from '../src/storage/sqlite/storage.ts';
import { USAGE_COUNTS } from '../src/usage/index.ts';
import { startPostgres } from '../test/servers/postgres.ts';
import { aligned } from './report.ts';
import { sampleRecord } from './sample-records.ts';

const HOUR_MS = 3_600_000;
const END = Date.UTC(2026, 10, 1);
const [DAYS, KEYS, MODELS, PROVIDERS, SAMPLES] = [30, 50, 4, 2, 200] as const;
const ROUNDS = 5;
const MONTH = { fromMs: END - DAYS * 24 * HOUR_MS, toMs: END } as const;

/** Everything that the API can be asked for by one name, some pairs, and all. */
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

async function writeSamples(storage: Storage): Promise<void> {
  for (let number = 0; number < SAMPLES; number += 1) {
    const createdAt = END + number;
    const { generation, attempts } = sampleRecord(newGenerationId(createdAt), createdAt, number);
    const named = {
      ...generation,
      keyId: 'sample',
      projectId: 'sample',
      model: 'sample',
      provider: 'sample',
      endpoint: 'sample',
    };
    storage.ledger.append(named, attempts);
  }
  await storage.usage.query({ fromMs: 0, toMs: END, interval: null, groupBy: [], filters: {} });
}

interface Table {
  readonly name: 'usage_hourly' | 'usage_daily';
  /** Hours or days since 1970. */
  readonly first: number;
  readonly periods: number;
  /** How long its periods are. */
  readonly hours: number;
}

const FIRST_HOUR = MONTH.fromMs / HOUR_MS;
const TABLES: readonly Table[] = [
  { name: 'usage_hourly', first: FIRST_HOUR, periods: DAYS * 24, hours: 1 },
  { name: 'usage_daily', first: FIRST_HOUR / 24, periods: DAYS, hours: 24 },
];

/** Sums of the samples for a row of so many hours, as its part of all records. */
function multiplied(records: number, hours: number): string {
  const ofHour = records / (DAYS * 24 * KEYS * MODELS * PROVIDERS) / SAMPLES;
  return USAGE_COUNTS.map((count) => `cast(round(${count} * ${ofHour}) as bigint) * ${hours}`).join(', ');
}

/** Does what a gateway does in the background, at the end of the month. */
async function maintained({ usage }: Storage): Promise<void> {
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
  readonly storage: Storage;
  readonly close: () => Promise<void>;
}

async function openOnSqlite(records: number): Promise<Opened> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-month-'));
  const path = join(folder, 'dragoman.db');
  const written = await openSqliteStorage({ path, later: () => {} });
  await writeSamples(written);
  await written.close();
  const connection = openSqlite(path);
  const series = (name: string, to: number): string =>
    `${name}(n) as (select 0 union all select n + 1 from ${name} where n < ${to - 1})`;
  const numberOf = (text: string): string => `(select number from names where text = ${text})`;
  const texts: readonly (readonly [string, number])[] = [
    ['project_', 8],
    ['key_', KEYS],
    ['model_', 6],
    ['provider_', 3],
  ];
  for (const [text, many] of texts)
    connection.exec(
      `with recursive ${series('s', many)} insert or ignore into names (text) select '${text}' || n from s`,
    );
  for (const { name, first, periods, hours } of TABLES)
    connection.exec(`
      with recursive ${series('p', periods)}, ${series('k', KEYS)}, ${series('m', MODELS)}, ${series('v', PROVIDERS)}
      insert or replace into ${name} (period, project, key, model, provider, endpoint, protocol, details,
        ${USAGE_COUNTS.join(', ')})
      select ${first} + p.n, ${numberOf(`'project_' || (k.n % 8)`)}, ${numberOf(`'key_' || k.n`)},
        ${numberOf(`'model_' || ((k.n + m.n) % 6)`)}, ${numberOf(`'provider_' || ((m.n + v.n) % 3)`)},
        ${numberOf(`'provider_' || ((m.n + v.n) % 3)`)}, protocol, details, ${multiplied(records, hours)}
      from p, k, m, v, (select * from usage_hourly where key = ${numberOf(`'sample'`)} limit 1)`);
  // Days that are over are read as such.
  connection.exec(
    `update settings set value = json_array(${END / HOUR_MS}, 0, 0, 0, 0, 0, 0) where name = 'usage_folded'`,
  );
  connection.close();
  const storage = await openSqliteStorage({ path, later: () => {} });
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
  const storage = await openWith(STORES, { url: server.url, later: () => {} });
  await writeSamples(storage);
  const client = new Client({ connectionString: server.url });
  await client.connect();
  for (const { name, first, periods, hours } of TABLES)
    await client.query(`
      insert into ${name} (period, project, key, model, provider, endpoint, protocol, writer, batches, details,
        ${USAGE_COUNTS.join(', ')})
      select ${first} + p, 'project_' || (k % 8), 'key_' || k, 'model_' || ((k + m) % 6), 'provider_' || ((m + v) % 3),
        'provider_' || ((m + v) % 3), protocol, 0, 1, details, ${multiplied(records, hours)}
      from (select * from usage_hourly where key = 'sample' limit 1) s, generate_series(0, ${periods - 1}) p,
        generate_series(0, ${KEYS - 1}) k, generate_series(0, ${MODELS - 1}) m, generate_series(0, ${PROVIDERS - 1}) v`);
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

/** Null where the answer would have too many rows. */
async function ask({ usage }: Storage, query: UsageQuery): Promise<Asked | null> {
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
  const rows: string[][] = [['question', 'rows', 'ms at best', 'usually', 'CPU of the gateway']];
  for (const [name, query] of QUESTIONS) {
    const rounds: Asked[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const asked = await ask(opened.storage, { ...MONTH, ...query });
      if (!asked) break;
      rounds.push(asked);
      const isWhole = Object.keys(query.filters).length === 0;
      if (isWhole && asked.requests !== made)
        throw new Error(`${name}: ${asked.requests} requests, where there were ${made}`);
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
