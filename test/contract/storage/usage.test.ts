// Sums over records: equal to the records themselves, to the nano-dollar, whoever asks and whatever happened in between.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { NO_USAGE, type ErrorKind } from '../../../src/canonical/index.ts';
import {
  addUsageSums,
  countAttempt,
  countFacts,
  inputTokensIn,
  latencyAt,
  noUsageSums,
  outputTokensIn,
  usageFactsOf,
  type UsageSums,
} from '../../../src/accounts/usage/index.ts';
import type { AttemptRecord, GenerationRecord } from '../../../src/accounts/ledger/index.ts';
import type { LedgerSum, SumQuery } from '../../../src/accounts/limits/index.ts';
import { newGenerationId } from '../../../src/base/runtime/ids.ts';
import type { UsageDimension } from '../../../src/accounts/ports/index.ts';
import { openSqliteStorage } from '../../../src/storage/sqlite/storage.ts';
import { LEDGER_DATABASES, type LedgerStorage } from './ledger-databases.ts';
import { rejection } from '../../support/rejection.ts';
import { freshPath } from '../../support/storage/storage-directory.ts';
import { attempt, generation } from '../../support/storage/storage-records.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOON = Date.UTC(2026, 10, 22, 12);
const ALL = { fromMs: 0, toMs: NOON + 400 * DAY, interval: null, groupBy: [], filters: {} } as const;

/** A record of a time, under an id that begins with it. */
function recordAt(atMs: number, over: Partial<GenerationRecord> = {}): GenerationRecord {
  return generation(newGenerationId(atMs), {
    createdAt: atMs,
    endedAt: atMs + 900,
    firstContentAt: atMs + 250,
    ...over,
  });
}

const anyRecord = fc
  .record({
    hour: fc.integer({ min: 0, max: 72 }),
    minute: fc.integer({ min: 0, max: 59 }),
    isLate: fc.boolean(),
    keyId: fc.constantFrom('key_a', 'key_b'),
    project: fc.constantFrom(null, 'search', 'true'),
    endUser: fc.constantFrom(null, 'a'.repeat(32), 'b'.repeat(32)),
    model: fc.constantFrom('openai/gpt-5', 'anthropic/claude', null),
    error: fc.constantFrom<ErrorKind | null>(null, 'timeout', 'quota'),
    uncached: fc.nat(5000),
    cacheRead: fc.nat(3),
    text: fc.nat(900),
    usd: fc.oneof(
      fc.constant(null),
      fc.integer({ min: 0, max: 1e9 }).map((pico) => pico / 1e12),
    ),
    first: fc.option(fc.nat(5000)),
    duration: fc.nat(100_000),
    tools: fc.dictionary(fc.constantFrom('web_search', '__proto__', 'file_search'), fc.nat(3)),
    attempts: fc.integer({ min: 0, max: 3 }),
    turns: fc.integer({ min: 1, max: 3 }),
    isUsed: fc.boolean(),
    isCharged: fc.boolean(),
  })
  .map((r): GenerationRecord => {
    const createdAt = NOON - r.hour * HOUR - r.minute * 60_000;
    const own = recordAt(createdAt, {
      // Counts that came late lie beside their request.
      id: newGenerationId(r.isLate ? createdAt - 2 * HOUR - 7 : createdAt),
      keyId: r.keyId,
      projectId: r.project ?? r.keyId,
      endUser: r.endUser,
      model: r.model,
      provider: r.model && r.model.slice(0, r.model.indexOf('/')),
      endpoint: r.model && 'endpoint',
      error: r.error && { kind: r.error, message: 'no', upstreamStatus: null },
      usage: r.isUsed
        ? {
            ...NO_USAGE,
            input: { ...NO_USAGE.input, uncached: r.uncached, cacheRead: r.cacheRead },
            output: { ...NO_USAGE.output, text: r.text },
            tools: r.tools,
            raw: { prompt_tokens: r.uncached },
          }
        : null,
      cost: r.isCharged
        ? { usd: r.usd, items: { cache_read: r.cacheRead / 1e7 }, price: { input: 1.5, source: 'test' } }
        : null,
      attempts: r.attempts,
      turns: r.turns,
      firstContentAt: r.first === null ? null : createdAt + r.first,
      endedAt: createdAt + r.duration,
    });
    return own;
  });

/** The attempts of a record: the first at a provider of its own, and in vain. */
function attemptsOf(record: GenerationRecord): readonly AttemptRecord[] {
  return Array.from({ length: record.attempts }, (_, ordinal) => {
    const at = { provider: record.provider ?? 'openai', endpoint: record.endpoint ?? 'openai' };
    const cost = { usd: 0.5, items: {}, price: { input: 1 } };
    const own = { ordinal, ...at, outcome: record.error ? ('failed' as const) : ('completed' as const) };
    return attempt(
      `${record.id}-${ordinal}`,
      record.id,
      ordinal === 0 && record.attempts > 1
        ? {
            ...own,
            provider: 'elsewhere',
            endpoint: 'elsewhere',
            outcome: 'failed',
            usage: record.usage,
            cost,
          }
        : { ...own, cost: record.cost },
    );
  });
}

function isLate({ id, createdAt }: GenerationRecord): boolean {
  return parseInt(id.slice(0, 12), 16) !== createdAt;
}

/** Sums of records, counted one by one. @param made attempts that were made for them, at any provider unless said otherwise */
function sumsOf(
  records: readonly GenerationRecord[],
  made: readonly AttemptRecord[] = records.filter((record) => !isLate(record)).flatMap(attemptsOf),
): UsageSums {
  const sums = noUsageSums();
  for (const record of records) countFacts(sums, usageFactsOf(record, attemptsOf(record), isLate(record)));
  for (const each of made) countAttempt(sums.counts, each);
  return sums;
}

/** The model that a record counts under: that ran, or that was asked for. */
function modelOf({ model, requestedModel }: GenerationRecord): string {
  return model ?? requestedModel;
}

function append(storage: LedgerStorage, record: GenerationRecord): void {
  storage.ledger.append(record, attemptsOf(record));
}

async function total(storage: LedgerStorage): Promise<UsageSums> {
  const { rows } = await storage.usage.query(ALL);
  return rows[0]?.sums ?? noUsageSums();
}

async function ledgerSums(storage: LedgerStorage, query: SumQuery): Promise<readonly LedgerSum[]> {
  const sums: LedgerSum[] = [];
  for await (const some of storage.usage.read(query)) sums.push(...some);
  return sums;
}

function inOrder(sums: readonly LedgerSum[]): readonly string[] {
  return sums.map((sum) => JSON.stringify(Object.entries(sum).toSorted())).toSorted();
}

/** Does what waits in the background. */
async function maintained(storage: LedgerStorage, nowMs: number): Promise<void> {
  while (await storage.usage.maintain(nowMs));
}

describe.each(LEDGER_DATABASES)('$name', (database) => {
  test('sums by time and by members of records equal the records, before and after hours are merged into days', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyRecord, { maxLength: 60 }),
        fc.array(anyRecord, { maxLength: 20 }),
        async (some, more) => {
          await using storage = await (await database.fresh())();
          for (const record of some) append(storage, record);
          expect(await total(storage)).toEqual(sumsOf(some));
          await maintained(storage, NOON);
          for (const record of more) append(storage, record);
          const all = [...some, ...more];
          expect(await total(storage)).toEqual(sumsOf(all));
          for (const interval of ['hour', 'day', 'month', null] as const) {
            const groupBy = ['project', 'key', 'model', 'provider', 'endpoint', 'protocol'] as const;
            const { rows } = await storage.usage.query({ ...ALL, interval, groupBy });
            const together = noUsageSums();
            for (const row of rows) {
              addUsageSums(together, row.sums);
              const isOf = (g: GenerationRecord): boolean =>
                (interval === null || startOf(g.createdAt, interval) === row.startMs) &&
                g.projectId === row.group.project &&
                g.keyId === row.group.key &&
                modelOf(g) === row.group.model;
              const tried = all.filter((g) => isOf(g) && !isLate(g));
              const made = tried
                .flatMap(attemptsOf)
                .filter(({ provider }) => provider === row.group.provider);
              const here = (g: GenerationRecord): boolean =>
                (g.provider ?? attemptsOf(g).at(-1)?.provider ?? null) === row.group.provider;
              expect(row.sums).toEqual(
                sumsOf(
                  all.filter((g) => isOf(g) && here(g)),
                  made,
                ),
              );
            }
            expect(together).toEqual(sumsOf(all));
          }
          const { rows } = await storage.usage.query({ ...ALL, interval: 'hour', groupBy: ['model'] });
          for (const { startMs, group, sums } of rows)
            expect(sums).toEqual(
              sumsOf(
                all.filter((g) => startOf(g.createdAt, 'hour') === startMs && modelOf(g) === group.model),
              ),
            );
          expect(rows.reduce((sum, row) => sum + row.sums.counts.attempts, 0)).toBe(
            sumsOf(all).counts.attempts,
          );
          const tried = await storage.usage.query({ ...ALL, groupBy: ['provider'] });
          const remote = tried.rows.find(({ group }) => group.provider === 'elsewhere');
          const again = all.filter((g) => g.attempts > 1 && !isLate(g)).length;
          expect(remote?.sums.counts.failed_attempts ?? 0).toBe(again);
          expect(remote?.sums.counts.requests ?? 0).toBe(0);
        },
      ),
      { numRuns: database.runs },
    );
  });

  test('limits are set from sums of the records since any millisecond, by owner, model and end user', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRecord, { maxLength: 60 }), fc.nat(72 * HOUR), async (records, ago) => {
        await using storage = await (await database.fresh())();
        for (const record of records) append(storage, record);
        await maintained(storage, NOON);
        const fromMs = NOON - ago;
        const since = records.filter(({ createdAt }) => createdAt >= fromMs);
        for (const by of ['gateway', 'project', 'key', 'provider'] as const)
          for (const byEndUser of [true, false])
            for (const inSlices of [true, false]) {
              const sums = await ledgerSums(storage, { by, byEndUser, fromMs, inSlices });
              const names = new Set(sums.map(nameOf));
              const ownerOf = (g: GenerationRecord): string | null =>
                ({
                  gateway: '',
                  project: g.projectId,
                  key: g.keyId,
                  provider: g.provider ?? attemptsOf(g).at(-1)?.provider ?? null,
                })[by];
              const own = since.filter((g) => ownerOf(g) !== null);
              const expected = (g: GenerationRecord) =>
                nameOf({
                  ownerId: ownerOf(g) ?? '',
                  endUser: byEndUser && by !== 'provider' ? g.endUser : null,
                  model: modelOf(g),
                });
              for (const name of names) {
                const counted = sums.filter((sum) => nameOf(sum) === name);
                const named = own.filter((g) => expected(g) === name);
                const { counts } = sumsOf(named);
                expect({ name, ...added(counted) }).toEqual({
                  name,
                  requests: named.reduce((sum, g) => sum + limitedRequests(g), 0),
                  tokens: inputTokensIn(counts) + outputTokensIn(counts),
                  nanoUsd: counts.nano_usd,
                });
              }
              const { counts } = sumsOf(own);
              expect(added(sums).nanoUsd).toBe(counts.nano_usd);
              const owners = [sums[0]?.ownerId ?? '', 'nobody'];
              const some = await ledgerSums(storage, { by, owners, byEndUser, fromMs, inSlices });
              const ofSome = sums.filter(({ ownerId }) => ownerId === owners[0]);
              expect(inOrder(some)).toEqual(inOrder(ofSome));
            }
      }),
      { numRuns: database.runs },
    );
  });

  test('an hour has room for so many end users of a project; the others are counted together', async () => {
    await using storage = await (await database.fresh())();
    for (let n = 0; n < 10_050; n += 1)
      storage.ledger.append(recordAt(NOON + n, { endUser: n.toString(16).padStart(32, '0') }), []);
    append(storage, recordAt(NOON, { endUser: '0'.repeat(32) }));
    append(storage, recordAt(NOON, { projectId: 'another', endUser: 'f'.repeat(32) }));
    const rows = await storage.usage.endUsers(ALL);
    // A report has as many end users: besides the 50 without room, one is added to the others.
    const others = rows.filter(({ endUser }) => endUser === null);
    expect(rows.length - others.length).toBe(10_000);
    const requestsOf = (all: typeof rows): number => all.reduce((sum, { requests }) => sum + requests, 0);
    expect(requestsOf(others)).toBe(51);
    expect(requestsOf(rows)).toBe(10_052);
    const sums = await ledgerSums(storage, { by: 'project', byEndUser: true, fromMs: 0, inSlices: false });
    expect(sums.filter(({ endUser }) => endUser !== null)).toHaveLength(10_001);
    expect(sums.find(({ endUser }) => endUser === null)).toMatchObject({ requests: 50 });
    expect(added(sums).requests).toBe(10_052);
    // Also those without room are found by their name.
    for (const n of [0, 5_000, 10_049]) {
      const endUser = n.toString(16).padStart(32, '0');
      const { generations } = await storage.ledger.list({
        filters: { endUser: [endUser] },
        order: 'asc',
        limit: 10,
      });
      expect(generations.map(({ generation }) => generation.endUser)).toEqual(
        n === 0 ? [endUser, endUser] : [endUser],
      );
    }
  });

  test('a failed request counts for the requested model and the last provider, and each attempt for its own', async () => {
    await using storage = await (await database.fresh())();
    const failure = { kind: 'upstream_unavailable', message: 'overloaded', upstreamStatus: 503 } as const;
    const nobody = { model: null, provider: null, endpoint: null, usage: null, cost: null } as const;
    const tried = (
      g: GenerationRecord,
      ordinal: number,
      provider: string,
      outcome: AttemptRecord['outcome'],
    ) => attempt(`${g.id}-${ordinal}`, g.id, { ordinal, provider, endpoint: provider, outcome });
    const saved = recordAt(NOON, { provider: 'b', endpoint: 'b', requestedModel: 'fast', attempts: 2 });
    const failed = recordAt(NOON + 1, { ...nobody, requestedModel: 'fast', error: failure, attempts: 2 });
    const refused = recordAt(NOON + 2, {
      ...nobody,
      requestedModel: 'fast',
      error: { kind: 'quota', message: 'spent', upstreamStatus: null },
      attempts: 0,
    });
    const left = recordAt(NOON + 3, {
      provider: 'a',
      endpoint: 'a',
      requestedModel: 'fast',
      cancelled: true,
    });
    const unpriced = { usd: null, items: {}, price: null };
    const unknown = recordAt(NOON + 4, {
      provider: 'a',
      endpoint: 'a',
      requestedModel: 'm',
      cost: unpriced,
    });
    storage.ledger.append(saved, [tried(saved, 0, 'a', 'failed'), tried(saved, 1, 'b', 'completed')]);
    storage.ledger.append(failed, [tried(failed, 0, 'a', 'failed'), tried(failed, 1, 'c', 'failed')]);
    storage.ledger.append(refused, []);
    storage.ledger.append(left, [tried(left, 0, 'a', 'cancelled')]);
    storage.ledger.append(unknown, [tried(unknown, 0, 'a', 'completed')]);
    const ask = async (name: UsageDimension): Promise<unknown> => {
      const { rows } = await storage.usage.query({ ...ALL, groupBy: [name] });
      return Object.fromEntries(
        rows.map(({ group, sums: { counts: c } }) => [
          group[name] ?? 'none',
          [c.requests, c.failed, c.refused, c.cancelled, c.attempts, c.failed_attempts, c.unpriced],
        ]),
      );
    };
    const check = async (): Promise<void> => {
      expect(await ask('provider')).toEqual({
        a: [2, 0, 0, 1, 4, 2, 1],
        b: [1, 0, 0, 0, 1, 0, 0],
        c: [1, 1, 0, 0, 1, 1, 0],
        none: [1, 0, 1, 0, 0, 0, 0],
      });
      expect(await ask('requested_model')).toEqual({
        fast: [4, 1, 1, 1, 5, 3, 0],
        m: [1, 0, 0, 0, 1, 0, 1],
      });
      expect(await ask('model')).toEqual({
        fast: [2, 1, 1, 0, 2, 2, 0],
        'openai/gpt-5': [3, 0, 0, 1, 4, 1, 1],
      });
      expect(await ask('outcome')).toEqual({
        ok: [2, 0, 0, 0, 2, 0, 1],
        failed: [1, 1, 0, 0, 3, 3, 0],
        refused: [1, 0, 1, 0, 0, 0, 0],
        cancelled: [1, 0, 0, 1, 1, 0, 0],
      });
    };
    await check();
    await maintained(storage, NOON + 2 * HOUR);
    await check();
  });

  test('the last use of a key is known to 5 minutes, or to a day', async () => {
    await using storage = await (await database.fresh())();
    const old = NOON - 30 * DAY;
    for (const [atMs, keyId] of [
      [old, 'key_a'],
      [NOON - HOUR, 'key_b'],
      [NOON - HOUR + 400_000, 'key_b'],
    ] as const)
      storage.ledger.append(recordAt(atMs, { keyId }), []);
    const five = (ms: number): number => Math.floor(ms / 300_000) * 300_000;
    const last = await storage.usage.lastUsed();
    expect([last.get('key_a'), last.get('key_b')]).toEqual([five(old), five(NOON - HOUR + 400_000)]);
    while (await storage.usage.maintain(NOON));
    const later = await storage.usage.lastUsed(['key_a', 'key_c']);
    expect([...later]).toEqual([['key_a', Math.floor(old / DAY) * DAY]]);
  });

  test('reports contain only what matches their filters and is known', async () => {
    await using storage = await (await database.fresh())();
    append(storage, recordAt(NOON, { model: 'openai/a', projectId: 'search' }));
    append(storage, recordAt(NOON + HOUR, { model: 'openai/b', projectId: 'search' }));
    append(storage, recordAt(NOON + HOUR, { model: 'openai/b', projectId: 'mail' }));
    const query = {
      ...ALL,
      groupBy: ['model'] as const,
      filters: { project: ['search'], model: ['openai/b', 'none'] },
    };
    const report = await storage.usage.query(query);
    expect(report.rows.map(({ group, sums }) => [group, sums.counts.requests])).toEqual([
      [{ model: 'openai/b' }, 1],
    ]);
    expect(report.fromMs).toBe(NOON);
    const [all] = report.rows;
    const wanted = { counts: ['nano_usd', 'attempts'], details: false } as const;
    const few = await storage.usage.query({ ...query, wanted });
    expect(few.rows.map(({ sums }) => sums)).toEqual([
      {
        counts: {
          ...noUsageSums().counts,
          nano_usd: all?.sums.counts.nano_usd ?? NaN,
          attempts: all?.sums.counts.attempts ?? NaN,
        },
        details: noUsageSums().details,
      },
    ]);
    expect(all?.sums.details.durations.length).toBeGreaterThan(0);
    const none = await storage.usage.query({ ...ALL, filters: { project: ['nowhere'] } });
    expect(none.rows).toEqual([]);
    const hours = await storage.usage.query({
      ...ALL,
      interval: 'hour',
      fromMs: NOON + HOUR,
      toMs: NOON + 2 * HOUR,
    });
    expect(hours.rows.map(({ startMs, sums }) => [startMs, sums.counts.requests])).toEqual([
      [NOON + HOUR, 2],
    ]);
  });

  test('processes that count at once and import the same records get the sums of the records', async () => {
    const open = await database.fresh();
    const all = [await open(), await open(), await open(), await open()] as const;
    const endUsers = ['a', 'b', 'c', 'd', 'e'].map((letter) => letter.repeat(32));
    const records = Array.from({ length: 240 }, (_, n) =>
      recordAt(NOON + (n % 7) * HOUR + n, {
        endUser: endUsers[n % endUsers.length] ?? null,
        model: `openai/${n % 6}`,
        content: n % 9 === 0 ? { request: n, answer: '\u0000 and \ud800' } : null,
      }),
    );
    records.forEach((record, n) => {
      append(all[n % 4] ?? all[0], record);
      // Some are written by two, as when a file is read by another process.
      if (n % 3 === 0) append(all[(n + 1) % 4] ?? all[0], record);
    });
    await Promise.all(all.map((storage) => total(storage)));
    expect(await total(all[0])).toEqual(sumsOf(records));
    await Promise.all(all.map((storage) => maintained(storage, NOON + 3 * DAY)));
    const { rows } = await all[1].usage.query({ ...ALL, interval: 'hour' });
    const hours = noUsageSums();
    for (const { sums } of rows) addUsageSums(hours, sums);
    expect(hours).toEqual(sumsOf(records));
    expect(await total(all[2])).toEqual(sumsOf(records));
    const users = await all[3].usage.endUsers(ALL);
    expect(users.map(({ requests }) => requests)).toEqual(endUsers.map(() => 48));
    await Promise.all(all.map((storage) => storage.close()));
  });

  test('models that clients invent take a bounded number of names', async () => {
    await using storage = await (await database.fresh())();
    const nobody = {
      model: null,
      provider: null,
      endpoint: null,
      usage: null,
      cost: null,
      attempts: 0,
    } as const;
    const error = { kind: 'not_found', message: 'no such model', upstreamStatus: null } as const;
    for (let n = 0; n < 120; n += 1)
      storage.ledger.append(recordAt(NOON + n, { ...nobody, error, requestedModel: `invented/${n}` }), []);
    const { rows } = await storage.usage.query({ ...ALL, groupBy: ['requested_model'] });
    expect(rows).toHaveLength(51);
    expect(rows.find(({ group }) => group.requested_model === null)?.sums.counts).toMatchObject({
      requests: 70,
      refused: 70,
    });
  });

  test('sums of a day that are wrong are added up again from its records', async () => {
    await using storage = await (await database.fresh())();
    const records = Array.from({ length: 450 }, (_, at) =>
      recordAt(NOON - DAY + at * 60_000, { endUser: 'a'.repeat(32), model: `openai/${at % 3}` }),
    );
    // Counts of the day before that came late.
    records.push(recordAt(NOON - DAY, { id: newGenerationId(NOON - 2 * DAY), usage: null }));
    for (const record of records) append(storage, record);
    const before = await storage.usage.query({ ...ALL, interval: 'hour', groupBy: ['model'] });
    const today = Math.floor(NOON / DAY);
    expect(await rejection(storage.usage.recount(today - 1))).toMatchObject({ kind: 'conflict' });
    await maintained(storage, NOON + DAY);
    await storage.damage();
    expect((await storage.usage.query({ ...ALL, interval: 'hour', groupBy: ['model'] })).rows).not.toEqual(
      before.rows,
    );
    expect((await storage.usage.recount(today - 1)) + (await storage.usage.recount(today))).toBe(451);
    expect((await storage.usage.query({ ...ALL, interval: 'hour', groupBy: ['model'] })).rows).toEqual(
      before.rows,
    );
    expect(await total(storage)).toEqual(sumsOf(records));
    expect(await storage.usage.endUsers(ALL)).toMatchObject([{ requests: 450 }]);
  });

  test('percentiles of sums are at most a fifth too high', async () => {
    await using storage = await (await database.fresh())();
    for (let ms = 1; ms <= 1000; ms += 1) append(storage, recordAt(NOON + ms, { endedAt: NOON + ms + ms }));
    const { details } = await total(storage);
    for (const share of [0.5, 0.9, 0.99]) {
      const ms = latencyAt(share, details.durations) ?? 0;
      expect(ms).toBeGreaterThanOrEqual(1000 * share);
      expect(ms).toBeLessThanOrEqual(1000 * share * 1.19);
    }
  });
});

function startOf(ms: number, interval: 'hour' | 'day' | 'month'): number {
  const date = new Date(ms);
  if (interval === 'month') return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
  return ms - (ms % (interval === 'hour' ? HOUR : DAY));
}

/** As how many requests a record counts in limits. */
function limitedRequests({ id, createdAt, turns, error, usage, cost }: GenerationRecord): number {
  if (parseInt(id.slice(0, 12), 16) !== createdAt) return 0;
  return error && !usage && !cost ? 0 : turns;
}

function nameOf({ ownerId, endUser, model }: Pick<LedgerSum, 'ownerId' | 'endUser' | 'model'>): string {
  return JSON.stringify([ownerId, endUser, model]);
}

function added(sums: readonly LedgerSum[]): Pick<LedgerSum, 'requests' | 'tokens' | 'nanoUsd'> {
  const sum = (of: (each: LedgerSum) => number): number => sums.reduce((all, each) => all + of(each), 0);
  return { requests: sum((s) => s.requests), tokens: sum((s) => s.tokens), nanoUsd: sum((s) => s.nanoUsd) };
}

test('a record counts once, however often its entry is brought in', async () => {
  const path = freshPath();
  const records = Array.from({ length: 40 }, (_, at) => recordAt(NOON + at));
  const one = await openSqliteStorage({ path, later: () => {} });
  const two = await openSqliteStorage({ path, later: () => {} });
  for (const record of records) append(one, record);
  // The other process reads the journal of the first one, which brings the same in later, some of it a second time.
  expect(await total(two)).toEqual(sumsOf(records));
  for (const record of records.slice(0, 20)) append(two, record);
  expect(await total(two)).toEqual(sumsOf(records));
  expect(await total(one)).toEqual(sumsOf(records));
  await one.close();
  await two.close();
  const again = await openSqliteStorage({ path });
  expect(await total(again)).toEqual(sumsOf(records));
  await again.close();
});

test('sums that a process had in memory when it died are added up by the next', async () => {
  const path = freshPath();
  const records = Array.from({ length: 300 }, (_, at) =>
    recordAt(NOON + at * 60_000, { keyId: `key_${at % 7}`, endUser: at % 3 === 0 ? 'a'.repeat(32) : null }),
  );
  // Never closed, as a killed one.
  const killed = await openSqliteStorage({ path, later: () => {} });
  for (const record of records) append(killed, record);
  await killed.ledger.findOfAnybody('none');
  const storage = await openSqliteStorage({ path });
  expect(await total(storage)).toEqual(sumsOf(records));
  expect(await storage.usage.endUsers(ALL)).toMatchObject([{ requests: 100 }]);
  await storage.close();
  expect(await total(killed)).toEqual(sumsOf(records));
  await killed.close();
});
