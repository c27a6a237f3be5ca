// A month of a gateway that many use, for what has to stay quick over it: keys and projects of all kinds, models at several
// providers, failures of every sort, end users, failovers. The n-th record is always the same but for its id and time. On
// its own: `node bin/bun.mjs run test/console/busy-month.ts FOLDER RECORDS` fills a data directory.
import { join } from 'node:path';
import { sampleRecord } from '../../bench/sample-records.ts';
import type { ErrorKind, ProtocolName } from '../../src/canonical/index.ts';
import type { AttemptRecord, GenerationRecord } from '../../src/accounts/ledger/index.ts';
import { newGenerationId, newId } from '../../src/base/runtime/ids.ts';
import { openSqlite, type SqlConnection } from '../../src/base/runtime/sqlite.ts';
import { DAY_SPANS, HOUR_SPANS } from '../../src/storage/ledger/usage-tables.ts';
import type { Storage } from '../../src/accounts/ports/index.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/storage.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS = 30;
const KEYS = 150;
const PROJECTS = 12;
const END_USERS = 5_000;
/** Records between which the journal is brought into the database. */
const AT_ONCE = 2_000;

const MODELS: readonly (readonly [provider: string, model: string])[] = [
  ...['gpt-5', 'gpt-5-mini', 'o4', 'gpt-4.1'].map((name) => ['openai', `openai/${name}`] as const),
  ...['claude-opus', 'claude-sonnet', 'claude-haiku'].map(
    (name) => ['anthropic', `anthropic/${name}`] as const,
  ),
  ...['gemini-pro', 'gemini-flash'].map((name) => ['google', `google/${name}`] as const),
  ...['large', 'small', 'codestral'].map((name) => ['mistral', `mistral/${name}`] as const),
  ...['llama-70b', 'llama-8b', 'qwen-72b'].map((name) => ['groq', `meta/${name}`] as const),
  ...['deepseek-chat', 'deepseek-reasoner'].map((name) => ['deepseek', `deepseek/${name}`] as const),
];
const PROTOCOLS: readonly ProtocolName[] = [
  'openai-chat',
  'openai-responses',
  'anthropic-messages',
  'gemini',
];
const FAILURES: readonly (readonly [ErrorKind, number])[] = [
  ['upstream_unavailable', 502],
  ['rate_limited', 429],
  ['timeout', 504],
  ['invalid_request', 400],
  ['content_filter', 400],
  ['context_overflow', 400],
  ['quota', 402],
  ['internal', 500],
];

/** A number below `many` that looks as if by chance. */
function chance(number: number, salt: number, many: number): number {
  const mixed = Math.imul(number + salt * 0x9e3779b9, 0x85ebca6b);
  const again = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((again ^ (again >>> 16)) >>> 0) % many;
}

/** The n-th record of the month. */
function busyRecord(
  id: string,
  createdAt: number,
  number: number,
): { readonly generation: GenerationRecord; readonly attempts: readonly AttemptRecord[] } {
  const { generation, attempts } = sampleRecord(id, createdAt, number);
  // Few use much.
  const key = Math.min(chance(number, 1, KEYS), chance(number, 2, KEYS));
  // Each has its own few models, and one SDK.
  const choice = chance(number, 3, 4) * chance(number, 4, 2);
  const [provider, model] = MODELS[chance(key + choice * KEYS, 12, MODELS.length)] ?? ['', ''];
  const failure = chance(number, 5, 25) === 0 ? FAILURES[chance(number, 6, FAILURES.length)] : undefined;
  const error = failure
    ? {
        kind: failure[0],
        message: `The upstream said no, for the ${number}th time.`,
        upstreamStatus: failure[1],
      }
    : null;
  const cancelled = !failure && chance(number, 7, 60) === 0;
  const hasFailedOver = !failure && chance(number, 8, 20) === 0;
  const shared = {
    model,
    provider,
    endpoint: provider,
    // Some models have no price.
    cost: chance(number, 9, 40) === 0 ? { usd: null, items: {}, price: null } : generation.cost,
  };
  const last = attempts.map((attempt) => ({
    ...attempt,
    ...shared,
    ordinal: hasFailedOver ? 1 : 0,
    outcome: failure ? ('failed' as const) : cancelled ? ('cancelled' as const) : ('completed' as const),
    error,
  }));
  const earlier = last.slice(0, hasFailedOver ? 1 : 0).map((attempt) => ({
    ...attempt,
    id: `${id}-1`,
    ordinal: 0,
    outcome: 'failed' as const,
    status: 503,
    error: { kind: 'upstream_unavailable' as const, message: 'It is overloaded.', upstreamStatus: 503 },
    usage: null,
    cost: null,
  }));
  return {
    generation: {
      ...generation,
      ...shared,
      keyId: `key_${key}`,
      projectId: key % 3 === 0 ? `key_${key}` : `team-${key % PROJECTS}`,
      endUser: number % 2 === 0 ? null : chance(number, 10, END_USERS).toString(16).padStart(32, 'e'),
      protocol: PROTOCOLS[key % PROTOCOLS.length] ?? 'openai-chat',
      requestedModel: model,
      lane: number % 3 === 0 ? 'translate' : 'relay',
      streamed: number % 4 > 0,
      status: failure?.[1] ?? 200,
      finishReason: failure || cancelled ? null : 'stop',
      nativeFinishReason: failure || cancelled ? null : 'stop',
      cancelled,
      attempts: last.length + earlier.length,
      report:
        number % 3 === 0 ? [{ path: 'logit_bias', action: 'dropped', reason: 'It has no such field.' }] : [],
      route: [
        [
          [provider, model, null, null, [1.25, 10], 200_000, 0.9, 240 + (number % 50), 1_900, 80, 0.99],
          ['elsewhere', model, null, 'priority 2', [1.5, 12], 200_000, 0.8, 420, 2_500, 60, 0.97],
        ],
      ],
      error,
      metadata: number % 10 === 0 ? { job: `nightly-${number % 7}` } : null,
    },
    attempts: [...earlier, ...last],
  };
}

/**
 * Fills an empty data directory: yesterday, as its requests would have done it, then copies of that day.
 * @param records altogether
 * @param nowMs Unix milliseconds; the last record is of the hour before
 */
export async function fillMonth(dataDir: string, records: number, nowMs: number): Promise<void> {
  const path = join(dataDir, 'dragoman.db');
  const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const ofDay = Math.ceil(records / DAYS);
  const storage = await openSqliteStorage({ path, later: () => {} });
  try {
    await makeKeys(storage, today - DAYS * DAY_MS);
    for (let number = 0; number < ofDay; number += 1) {
      const createdAt = today - DAY_MS + Math.floor((number * DAY_MS) / ofDay);
      const { generation, attempts } = busyRecord(newGenerationId(createdAt), createdAt, number);
      storage.ledger.append(generation, attempts);
      if (number % AT_ONCE === AT_ONCE - 1) await storage.ledger.findOfAnybody('none');
    }
    await storage.ledger.findOfAnybody('none');
    while (await storage.usage.maintain(nowMs));
  } finally {
    await storage.close();
  }
  const connection = openSqlite(path, 5_000);
  connection.exec('begin');
  for (const table of Object.keys(SHIFTED))
    connection.exec(`create temp table "day_${table}" as select * from "${table}"`);
  for (let day = 1; day < DAYS; day += 1) copyDay(connection, -day, Number.MAX_SAFE_INTEGER);
  copyDay(connection, 1, Math.floor(nowMs / HOUR_MS) * HOUR_MS);
  connection.exec('commit');
  connection.close();
}

/** Values of columns when a row is copied so many days later; and when a row begins, in milliseconds. */
const SHIFTED: Readonly<Record<string, (days: number) => Readonly<Record<string, string>>>> = {
  records: (days) => ({
    id: `unhex(printf('%012x', created_at + ${days * DAY_MS}) || substr(hex(id), 13))`,
    created_at: `created_at + ${days * DAY_MS}`,
  }),
  usage: shiftedSums,
  usage_end_users: (days) => ({ period: `period + ${days * 24}` }),
};

/** Rows of hours and of days; those of 5 minutes stay where they are. */
function shiftedSums(days: number): Readonly<Record<string, string>> {
  const hours = HOUR_SPANS.join();
  return { period: `period + case when span in (${hours}) then ${days * 24} else ${days} end` };
}

/** Condition for the rows of a table's day that are copied. */
const COPIED: Readonly<Record<string, string>> = {
  usage: `span in (${[...HOUR_SPANS, ...DAY_SPANS].join()})`,
};

/** When a row begins, in milliseconds. */
const BEGINS: Readonly<Record<string, string>> = {
  usage: `case when span in (${HOUR_SPANS.join()}) then ${HOUR_MS} else ${DAY_MS} end`,
  usage_end_users: String(HOUR_MS),
  records: '1',
};

/** Copies the day that is there. @param endMs what would begin later is left out */
function copyDay(connection: SqlConnection, days: number, endMs: number): void {
  for (const [table, shifted] of Object.entries(SHIFTED)) {
    const columns = connection.prepare(`select name from pragma_table_info('${table}')`).all();
    const names = columns.map(({ name }) => String(name));
    const values = names.map((name) => shifted(days)[name] ?? `"${name}"`);
    const time = table === 'records' ? 'created_at' : 'period';
    connection.exec(
      `insert into "${table}" select ${values.join(', ')} from temp."day_${table}"
      where (${shifted(days)[time]}) * ${BEGINS[table]} < ${endMs} and ${COPIED[table] ?? 'true'}`,
    );
  }
}

async function makeKeys(storage: Storage, createdAt: number): Promise<void> {
  const entry = { createdAt, actor: { id: 'operator', name: 'operator', address: null }, requestId: null };
  for (let number = 0; number < KEYS; number += 1) {
    const id = `key_${number}`;
    await storage.keys.insert(
      {
        id,
        name: `service-${number}`,
        hash: `${id}-`.padEnd(64, '0'),
        hint: `sk-dm-…${number}`,
        createdAt,
        expiresAt: null,
        revokedAt: number % 20 === 19 ? createdAt + (DAYS / 2) * DAY_MS : null,
        models: null,
        logContent: false,
        strict: null,
        onDisconnect: null,
        routing: null,
        projectId: number % 3 === 0 ? null : `team-${number % PROJECTS}`,
        roles: ['models'],
        limits: [{ requests: 1_000_000, per: 'day' }],
        budgets: [{ usd: 5_000, per: 'month' }],
        previous: null,
        updatedAt: createdAt,
        version: 1,
      },
      { ...entry, id: newId('audit_'), action: 'key.create', target: id, before: null, after: { id } },
    );
  }
}

if (import.meta.main) {
  const [dataDir = '', records = '1000000'] = process.argv.slice(2);
  const from = process.cpuUsage();
  await fillMonth(dataDir, Number(records), Date.now());
  const { user, system } = process.cpuUsage(from);
  console.log(`${records} records: ${((user + system) / 1e6).toFixed(0)} s of CPU`);
  process.exit(0);
}
