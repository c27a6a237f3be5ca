// Totals of hours that are over: reports by the hour are those of the rows, whatever changes them and whoever reads.
import { describe, expect, test } from 'bun:test';
import { Client } from 'pg';
import type { GenerationRecord } from '../src/ledger/index.ts';
import { newGenerationId } from '../src/runtime/ids.ts';
import { openSqlite } from '../src/runtime/sqlite.ts';
import { USAGE_DIMENSIONS, type UsageQuery } from '../src/storage/ports.ts';
import { openWith } from '../src/storage/postgres/storage.ts';
import { STORES } from '../src/storage/postgres/stores.ts';
import { openSqliteStorage } from '../src/storage/sqlite/storage.ts';
import { type LedgerStorage, PATIENCE_MS } from './ledger-databases.ts';
import { freshPostgres, POSTGRES_PROGRAMS } from './servers/postgres.ts';
import { freshPath } from './storage-directory.ts';
import { generation } from './storage-records.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOON = Date.UTC(2026, 10, 22, 12);
const HOUR_OF_NOON = NOON / HOUR;
const BY_HOUR = { fromMs: NOON - DAY, toMs: NOON + DAY, interval: 'hour', groupBy: [], filters: {} } as const;

interface Opened {
  readonly storage: LedgerStorage;
  /** Another process on the same database. */
  readonly other: () => Promise<LedgerStorage>;
  /** What a program that knows no totals does. Gives rows. */
  readonly asked: (statement: string) => Promise<readonly Record<string, unknown>[]>;
  readonly close: () => Promise<void>;
}

const DATABASES: readonly (readonly [string, () => Promise<Opened>])[] = [
  ['SQLite', openOnSqlite],
  ...(POSTGRES_PROGRAMS === null ? [] : ([['PostgreSQL', openOnPostgres]] as const)),
];

async function openOnSqlite(): Promise<Opened> {
  const path = freshPath();
  const other = () => openSqliteStorage({ path, later: () => {} });
  const storage = await other();
  const connection = openSqlite(path);
  return {
    storage,
    other,
    asked: async (statement) => connection.prepare(statement).all(),
    async close() {
      connection.close();
      await storage.close();
    },
  };
}

async function openOnPostgres(): Promise<Opened> {
  const url = await freshPostgres();
  const other = () => openWith(STORES, { url, later: () => {} });
  const storage = await other();
  const client = new Client({ connectionString: url });
  await client.connect();
  return {
    storage,
    other,
    asked: async (statement) => (await client.query<Record<string, unknown>>(statement)).rows,
    async close() {
      await client.end();
      await storage.close();
    },
  };
}

function append(storage: LedgerStorage, atMs: number, over: Partial<GenerationRecord> = {}): void {
  storage.ledger.append(
    generation(newGenerationId(atMs), { createdAt: atMs, endedAt: atMs + 900, ...over }),
    [],
  );
}

async function maintained(storage: LedgerStorage, nowMs: number): Promise<void> {
  while (await storage.usage.maintain(nowMs));
}

/** Requests by hour and whatever else. */
async function requests(
  storage: LedgerStorage,
  query: Partial<UsageQuery> = {},
): Promise<readonly (readonly [number, ...(string | null)[], number])[]> {
  const { rows } = await storage.usage.query({ ...BY_HOUR, ...query });
  return rows.map(({ startMs, group, sums }) => [
    (startMs ?? 0) / HOUR - HOUR_OF_NOON,
    ...Object.values(group),
    sums.counts.requests,
  ]);
}

const MARKS = 'select period from usage_hour_totals where dimension = 0 order by period';

describe.each(DATABASES)('%s', (_name, open) => {
  test(
    'a report by the hour reads totals, and not those of an hour that has changed',
    async () => {
      const { storage, asked, close } = await open();
      for (const hour of [-3, -3, -2, -1, 0]) append(storage, NOON + hour * HOUR);
      const all = [
        [-3, 2],
        [-2, 1],
        [-1, 1],
        [0, 1],
      ] as const;
      expect(await requests(storage)).toEqual(all);
      // Requests of the hour before may still be answered.
      await maintained(storage, NOON);
      expect(await asked(MARKS)).toEqual([{ period: HOUR_OF_NOON - 3 }, { period: HOUR_OF_NOON - 2 }]);
      expect(await requests(storage)).toEqual(all);
      await asked('update usage_hour_totals set requests = requests + 10');
      expect(await requests(storage)).toEqual([[-3, 12], [-2, 11], ...all.slice(2)]);
      append(storage, NOON - 3 * HOUR);
      expect(await requests(storage)).toEqual([[-3, 3], [-2, 11], ...all.slice(2)]);
      await asked(`update usage_hourly set requests = requests + 4 where period >= ${HOUR_OF_NOON - 2}`);
      const changed = [
        [-3, 3],
        [-2, 5],
        [-1, 5],
        [0, 5],
      ] as const;
      expect(await requests(storage)).toEqual(changed);
      await maintained(storage, NOON + 2 * HOUR);
      expect(await asked(MARKS)).toHaveLength(4);
      expect(await requests(storage)).toEqual(changed);
      await asked(`delete from usage_hourly where period = ${HOUR_OF_NOON - 2}`);
      expect(await requests(storage)).toEqual(changed.filter(([hour]) => hour !== -2));
      await close();
    },
    PATIENCE_MS,
  );

  test(
    'totals by each of the things that sums are kept by have its names and its filters',
    async () => {
      const { storage, close } = await open();
      const of = (number: number): Partial<GenerationRecord> => ({
        keyId: `key_${number}`,
        projectId: `project_${number}`,
        model: number === 0 ? null : `model_${number}`,
        provider: number === 0 ? null : `provider_${number}`,
        endpoint: number === 0 ? null : `endpoint_${number}`,
      });
      for (const number of [0, 1, 2, 1]) append(storage, NOON - 5 * HOUR, of(number));
      append(storage, NOON - 4 * HOUR, of(1));
      const questions = [
        ...USAGE_DIMENSIONS.map((name) => ({ groupBy: [name] })),
        ...(['model_1', ''] as const).map((name) => ({ filters: { model: [name, 'never heard of'] } })),
        { filters: { key: ['key_1', 'key_2'] }, groupBy: ['key', 'key'] as const },
        { filters: { project: [] } },
        { filters: { key: ['key_1'] }, groupBy: ['model'] as const },
      ];
      const answers = await Promise.all(
        questions.map((question) => storage.usage.query({ ...BY_HOUR, ...question })),
      );
      expect(answers.map(({ rows }) => rows.length)).toEqual([4, 4, 4, 4, 4, 2, 2, 1, 3, 0, 2]);
      await maintained(storage, NOON);
      for (const [at, question] of questions.entries()) {
        const { rows } = await storage.usage.query({ ...BY_HOUR, ...question });
        const inOrder = (report: typeof rows): unknown =>
          report.toSorted((a, b) => (JSON.stringify(a.group) < JSON.stringify(b.group) ? -1 : 1));
        expect(inOrder(rows)).toEqual(inOrder(answers[at]?.rows ?? []));
      }
      await close();
    },
    PATIENCE_MS,
  );

  test(
    'an hour that changes while its rows are added up is added up again',
    async () => {
      const { storage, other, asked, close } = await open();
      for (let number = 0; number < 600; number += 1)
        append(storage, NOON - 5 * HOUR, { keyId: `key_${number}` });
      await requests(storage);
      const second = await other();
      let isMore = true;
      // Whether or not what is appended meets a half of it: the report is right.
      const running = (async () => {
        for (; isMore; isMore = await storage.usage.maintain(NOON));
      })();
      for (let extra = 1; isMore && extra <= 5; extra += 1) {
        append(second, NOON - 5 * HOUR, { keyId: `key_${extra}` });
        expect(await requests(second)).toEqual([[-5, 600 + extra]]);
        expect(await requests(storage)).toEqual([[-5, 600 + extra]]);
      }
      await running;
      const known = await requests(second);
      await Promise.all([maintained(storage, NOON), maintained(second, NOON)]);
      await maintained(second, NOON);
      expect(await asked(MARKS)).toHaveLength(1);
      expect(await requests(storage)).toEqual(known);
      await second.close();
      await close();
    },
    PATIENCE_MS,
  );

  test(
    'totals go with their hours',
    async () => {
      const { storage, asked, close } = await open();
      append(storage, NOON - 9 * DAY);
      append(storage, NOON - 2 * DAY);
      const whole = { fromMs: 0, toMs: NOON };
      expect(await requests(storage, whole)).toHaveLength(2);
      await maintained(storage, NOON);
      expect(await asked(MARKS)).toHaveLength(2);
      while ((await storage.usage.purge(NOON - 5 * DAY)) > 0);
      expect(await requests(storage, whole)).toEqual([[-48, 1]]);
      expect(await asked('select distinct period from usage_hour_totals')).toHaveLength(1);
      await close();
    },
    PATIENCE_MS,
  );
});

test.skipIf(POSTGRES_PROGRAMS === null)(
  'PostgreSQL: what another process has not committed yet is not missing from totals',
  async () => {
    const { storage, asked, close } = await openOnPostgres();
    append(storage, NOON - 5 * HOUR);
    append(storage, NOON - 4 * HOUR);
    await requests(storage);
    await asked('begin');
    await asked(`update usage_hourly set requests = requests + 1 where period = ${HOUR_OF_NOON - 5}`);
    // Waits for nobody, and leaves that hour alone.
    while (await storage.usage.maintain(NOON));
    await asked('commit');
    expect(await asked(MARKS)).toEqual([{ period: HOUR_OF_NOON - 4 }]);
    expect(await requests(storage)).toEqual([
      [-5, 2],
      [-4, 1],
    ]);
    await maintained(storage, NOON);
    expect(await asked(MARKS)).toHaveLength(2);
    expect(await requests(storage)).toEqual([
      [-5, 2],
      [-4, 1],
    ]);
    await close();
  },
  PATIENCE_MS,
);
