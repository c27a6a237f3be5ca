// Limits through the whole engine, whatever happens in whatever order: requests that are answered, fail, are cut or left,
// tools, crashes between any two steps, restarts, clocks that jump, changed limits. No more is spent than a limit and its
// bound, nothing stays reserved, and counters, records and sums have the same.
//
// DRAGOMAN_CRASH_HISTORIES says how many histories are played, DRAGOMAN_SEED which: a failure prints its own.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { countedRequests, type GenerationRecord } from '../../src/accounts/ledger/index.ts';
import { type Limit, nanoUsdOf } from '../../src/accounts/limits/index.ts';
import { inputTokens, outputTokens } from '../../src/canonical/index.ts';
import {
  inputTokensIn,
  outputTokensIn,
  countedRequestsIn,
  noUsageSums,
} from '../../src/accounts/usage/index.ts';
import type { Storage } from '../../src/accounts/ports/index.ts';
import { keyId, Machine, SEARCH_NANO, type Tenants, TOKEN_NANO } from './limits-machine.ts';
import { casesOf } from '../support/share.ts';
import type { MemoryClient } from './limits-machine-ends.ts';
import { ManualClock } from '../support/manual-clock.ts';

const HISTORIES = Number(process.env['DRAGOMAN_CRASH_HISTORIES'] ?? casesOf(40));
const SEED = process.env['DRAGOMAN_SEED'];
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOON = Date.UTC(2026, 10, 22, 12);

/** Tokens of an answer in one read, and how many answers may run at once. */
const STEP = 20;
const AT_ONCE = 5;
/** Most that running answers may use when a budget is spent: a read of each, and a search that has begun. */
const BOUND = AT_ONCE * (STEP * TOKEN_NANO + SEARCH_NANO);
const PER_DAY = { keyNano: 1_000_000, projectNano: 1_500_000, requests: 12, ofUser: 4 };
const FOR_EVER_NANO = 3_000_000;
const ADDED = { nano: 2 * FOR_EVER_NANO, requests: 999_999 };

const usd = (nano: number): number => nano / 1e9;

/** @param change which of several forms of the same, so that a reload has something to read */
function tenants(change: number): Tenants {
  return {
    gateway: [{ concurrent: AT_ONCE }],
    project: [
      { usd: usd(PER_DAY.projectNano), per: 'day' },
      { tokens: 3000, per: 'day' },
      ...(change % 2 === 1 ? [{ usd: usd(ADDED.nano) }] : []),
    ],
    keys: [0, 1].map(() => [
      { usd: usd(PER_DAY.keyNano), per: 'day' },
      { usd: usd(FOR_EVER_NANO) },
      { requests: PER_DAY.requests, per: 'day' },
      { requests: 6, per: 'minute' },
      { requests: PER_DAY.ofUser, per: 'day', each: 'end_user' },
      ...(change % 3 === 2 ? [{ requests: ADDED.requests, models: ['t*'] }] : []),
    ]),
  };
}

const folder = mkdtempSync(join(tmpdir(), 'dragoman-crashes-'));
/** A data directory without records: to make its tables takes longer than most histories. */
const EMPTY = join(folder, 'empty');
let histories = 0;
beforeAll(async () => {
  const clock = new ManualClock(NOON);
  await (await Machine.start({ folder: EMPTY, clock, tenants: tenants(0) })).end();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** One gateway through all its lives. */
class History {
  readonly clock = new ManualClock(NOON);
  machine!: Machine;
  /** Clients of earlier lives that had an answer, or some of it. */
  readonly served: { readonly client: MemoryClient; readonly wasOver: boolean }[] = [];
  hasJumped = false;
  /** True: something ran when limits were added. Until the next start they do not count it. */
  #isBehind = false;
  #changes = 0;
  #folder = join(folder, `${(histories += 1)}`);

  constructor() {
    cpSync(EMPTY, this.#folder, { recursive: true });
  }

  async start(): Promise<void> {
    const { clock } = this;
    this.machine = await Machine.start({ folder: this.#folder, clock, tenants: tenants(this.#changes) });
  }

  /** Ends the process, dead or alive, and starts the next one. */
  async restart(): Promise<void> {
    for (const client of this.machine.clients) this.served.push({ client, wasOver: client.isOver });
    this.#folder = await this.machine.end();
    await this.start();
    this.#isBehind = false;
    await this.expectLedgerAgrees();
  }

  async run([what, first, second]: Act): Promise<void> {
    const { machine } = this;
    const { open } = machine.sender;
    const exchange = open[first % Math.max(1, open.length)];
    if (what === 'ask') this.#ask(first, second);
    else if (what === 'say') exchange?.say(second);
    else if (what === 'finish') exchange?.finish(second % 3 === 0);
    else if (what === 'cut') exchange?.cut();
    else if (what === 'refuse') exchange?.refuse();
    else if (what === 'leave') machine.clients.findLast(({ isOver }) => !isOver)?.leave();
    else if (what === 'index') machine.index();
    else if (what === 'reload') await this.#reload();
    else if (what === 'move') this.clock.advance(first);
    else if (what === 'jump') this.#jump(first);
    else if (what === 'stop') await this.restart();
    else if (what === 'crash') machine.kill();
    else machine.diesAfter = first + 1;
    await quiet();
    if (this.machine.left !== null) await this.restart();
  }

  /** Every answer comes to its end. */
  async drain(): Promise<void> {
    this.machine.diesAfter = null;
    for (let round = 0; round < 100 && this.machine.sender.open.length > 0; round += 1) {
      for (const exchange of this.machine.sender.open) exchange.finish(false);
      await quiet();
    }
  }

  /** Counters, records and sums have the same, and all that clients have is paid, once. */
  async expectLedgerAgrees(): Promise<void> {
    const { machine, hasJumped } = this;
    const records = await recordsOf(machine.storage);
    expect(new Set(records.map(({ id }) => id)).size).toBe(records.length);
    await expectSums(machine.storage, records);
    expect(machine.limits.limiter.open).toBe(0);
    const today = this.clock.now() - (this.clock.now() % DAY);
    for (const { limit, used, reserved } of machine.limits.limitUsages(machine.limits.written())) {
      expect(reserved).toBe(0);
      const { kind, window } = limit.rule;
      if (kind === 'concurrent') expect(used).toBe(0);
      if (kind === 'concurrent' || window.type === 'rolling') continue;
      // By a clock that was set back days come again, which the counter of a running process knows better.
      if (window.type === 'calendar' && hasJumped) continue;
      const own = records.filter(({ keyId: key, createdAt, model }) => {
        if (window.type === 'calendar' && createdAt < today) return false;
        if (limit.owner.kind === 'key' && limit.owner.id !== key) return false;
        return !isForTwo(limit) || model === 'two';
      });
      const { requests, tokens, nanoUsd } = totalOf(own);
      const total = kind === 'usd' ? nanoUsd : kind === 'tokens' ? tokens : requests;
      const name = `${limit.owner.id} ${limit.rule.counts}`;
      if (this.#isBehind && isAdded(limit)) expect(used).toBeLessThanOrEqual(total);
      else expect({ name, used }).toEqual({ name, used: total });
    }
    this.#expectPaid(records);
    this.#expectKept(records);
  }

  #expectPaid(records: readonly GenerationRecord[]): void {
    const byId = new Map(records.map((record) => [record.id, record]));
    const now = this.machine.clients.map((client) => ({ client, wasOver: client.isOver }));
    for (const { client, wasOver } of [...this.served, ...now]) {
      if (client.id === '') continue;
      const record = byId.get(client.id);
      if (!record && client.tokens === 0 && !wasOver) continue;
      const paid = nanoUsdOf(record?.cost?.usd ?? 0);
      expect({ id: client.id, paid, owes: Math.max(0, client.tokens * TOKEN_NANO - paid) }).toMatchObject({
        owes: 0,
      });
    }
  }

  /** No limit is exceeded by more than its bound. */
  #expectKept(records: readonly GenerationRecord[]): void {
    for (const key of [0, 1].map(keyId)) {
      const own = records.filter((record) => record.keyId === key);
      expect(totalOf(own).nanoUsd).toBeLessThanOrEqual(FOR_EVER_NANO + BOUND);
      if (this.hasJumped) continue;
      for (const day of byDay(own)) {
        expect(totalOf(day).nanoUsd).toBeLessThanOrEqual(PER_DAY.keyNano + BOUND);
        const counted = day.filter((record) => countedIn(record) > 0);
        expect(counted.length).toBeLessThanOrEqual(PER_DAY.requests);
        for (const user of new Set(counted.map(({ endUser }) => endUser)))
          expect(counted.filter(({ endUser }) => endUser === user).length).toBeLessThanOrEqual(
            PER_DAY.ofUser,
          );
      }
    }
    if (this.hasJumped) return;
    for (const day of byDay(records))
      expect(totalOf(day).nanoUsd).toBeLessThanOrEqual(PER_DAY.projectNano + BOUND);
  }

  #ask(first: number, second: number): void {
    const common = {
      model: first % 2 === 0 ? 'one' : 'two',
      stream: first % 4 !== 3,
      user: `user ${second % 3}`,
    };
    const tokens = 20 + (second % 5) * 20;
    if (first % 3 === 0)
      this.machine.ask(second % 2, 'openai-responses', {
        ...common,
        max_output_tokens: tokens,
        input: 'Go',
        store: false,
        tools: [{ type: 'web_search' }],
      });
    else
      this.machine.ask(second % 2, 'openai-chat', {
        ...common,
        max_completion_tokens: tokens,
        messages: [{ role: 'user', content: 'Go' }],
      });
  }

  async #reload(): Promise<void> {
    this.#isBehind ||= this.machine.limits.limiter.open > 0;
    await this.machine.reload(tenants((this.#changes += 1)));
  }

  #jump(ms: number): void {
    this.clock.advance(ms);
    this.hasJumped = true;
  }
}

/** The limits that come and go. */
const isForTwo = ({ rule }: Limit): boolean => rule.amount === ADDED.requests;
const isAdded = (limit: Limit): boolean => isForTwo(limit) || limit.rule.amount === ADDED.nano;

/** Lets everything run that does not wait for somebody. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 6; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function recordsOf({ ledger }: Storage): Promise<readonly GenerationRecord[]> {
  const found: GenerationRecord[] = [];
  for (let after: string | undefined; ;) {
    const { generations, hasMore } = await ledger.list({ filters: {}, order: 'asc', after, limit: 100 });
    found.push(...generations.map(({ generation }) => generation));
    if (!hasMore) return found;
    after = found.at(-1)?.id;
  }
}

function countedIn({ turns, error, usage, cost }: GenerationRecord): number {
  return countedRequests({ turns, failed: error !== null, isCharged: usage !== null || cost !== null });
}

interface Total {
  readonly requests: number;
  readonly tokens: number;
  readonly nanoUsd: number;
}

function totalOf(records: readonly GenerationRecord[]): Total {
  let [requests, tokens, nanoUsd] = [0, 0, 0];
  for (const record of records) {
    const { usage, cost } = record;
    requests += countedIn(record);
    if (usage) tokens += inputTokens(usage) + outputTokens(usage);
    nanoUsd += nanoUsdOf(cost?.usd ?? 0);
  }
  return { requests, tokens, nanoUsd };
}

function byDay(records: readonly GenerationRecord[]): readonly (readonly GenerationRecord[])[] {
  return [...Map.groupBy(records, ({ createdAt }) => Math.floor(createdAt / DAY)).values()];
}

async function expectSums({ usage }: Storage, records: readonly GenerationRecord[]): Promise<void> {
  const all = { fromMs: 0, toMs: NOON + 1000 * DAY, interval: null, groupBy: [], filters: {} } as const;
  const { counts } = (await usage.query(all)).rows[0]?.sums ?? noUsageSums();
  expect({
    requests: countedRequestsIn(counts),
    tokens: inputTokensIn(counts) + outputTokensIn(counts),
    nanoUsd: counts.nano_usd,
    records: counts.requests,
  }).toEqual({ ...totalOf(records), records: records.length });
}

type Act = readonly [what: string, first: number, second: number];
const act = (weight: number, what: string, first = fc.nat(11), second = fc.nat(11)) => ({
  weight,
  arbitrary: fc.tuple(fc.constant(what), first, second) as fc.Arbitrary<Act>,
});
const ACTS = [
  act(12, 'ask'),
  act(16, 'say', fc.nat(9), fc.integer({ min: 1, max: STEP })),
  act(7, 'finish'),
  act(1, 'cut'),
  act(1, 'refuse'),
  act(2, 'leave'),
  act(3, 'move', fc.constantFrom(1, MINUTE / 2, 2 * MINUTE, 5 * HOUR)),
  act(2, 'index'),
  act(1, 'reload'),
  act(1, 'stop'),
  act(1, 'crash'),
  act(2, 'dies', fc.nat(12)),
];
const JUMPS = [...ACTS, act(2, 'jump', fc.constantFrom(-1, -HOUR, -DAY, DAY, 40 * DAY))];

/** Plays histories; the books are looked at after every start, and at the end. */
async function expectKeptWhatever(acts: typeof ACTS): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(...acts), { minLength: 15, maxLength: 35, size: 'max' }),
      async (all) => {
        const history = new History();
        await history.start();
        for (const one of all) await history.run(one);
        await history.drain();
        await history.expectLedgerAgrees();
        await history.restart();
        rmSync(await history.machine.end(), { recursive: true, force: true });
      },
    ),
    { numRuns: HISTORIES, ...(SEED === undefined ? {} : { seed: Number(SEED) }) },
  );
}

test('a response with a search is charged correctly when killed before or after each of its steps', async () => {
  const acts: readonly Act[] = [
    ['ask', 0, 0],
    ['say', 0, 3],
    ['finish', 0, 0],
    ['say', 0, 4],
    ['index', 0, 0],
    ['finish', 0, 1],
  ];
  let lived = false;
  for (let step = 0; !lived; step += 1) {
    const history = new History();
    await history.start();
    await history.run(['dies', step, 0]);
    const first = history.machine;
    for (const one of acts) await history.run(one);
    lived = history.machine === first;
    await history.drain();
    await history.expectLedgerAgrees();
    rmSync(await history.machine.end(), { recursive: true, force: true });
    expect(step).toBeLessThan(40);
  }
});

describe('limits through the whole engine', () => {
  const patience = 30_000 + HISTORIES * 1000;
  test(
    'hold with crashes between any two steps, restarts and changed limits',
    () => expectKeptWhatever(ACTS),
    patience,
  );

  test('hold also if clocks jump', () => expectKeptWhatever(JUMPS), patience);
});
