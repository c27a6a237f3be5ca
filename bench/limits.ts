// CPU time of admission and settlement under five limits, and the cost of 100,000 keys with limits at the start.
// `node bin/bun.mjs run bench/limits.ts` prints both.
import type { CanonicalRequest } from '../src/canonical/index.ts';
import type { Endpoint } from '../src/catalog/index.ts';
import { RequestQuota } from '../src/engine/request-quota.ts';
import { estimateOf } from '../src/engine/cost-estimate.ts';
import { estimatedInputTokens } from '../src/accounts/ledger/index.ts';
import {
  limitId,
  type LimitEntry,
  Limiter,
  Limits,
  nanoUsdOf,
  type Owner,
  type Scope,
} from '../src/accounts/limits/index.ts';
import { encodeRateLimitHeaders } from '../src/protocols/index.ts';
import type { Figures } from './measure.ts';

const KEYS = 100_000;
const REQUESTS = 100_000;
const HOUR = 3_600_000;

/** Five limits that apply to each request: of the gateway, the project and the key. */
const GATEWAY: readonly LimitEntry[] = [{ concurrent: 2000 }];
const PROJECT: readonly LimitEntry[] = [
  { usd: 5_000_000, per: 'month', timezone: 'Europe/Berlin' },
  { tokens: 1e12, per: 'minute' },
];
const KEY: readonly LimitEntry[] = [
  { usd: 1_000_000, per: 'day' },
  { requests: 1e9, per: 'minute', models: ['openai/*'] },
];

interface LimitsFigure {
  /** CPU microseconds of one admission and settlement, median of the rounds. */
  readonly requestUs: number;
  /** The same with ten updates of a stream's cost in between. */
  readonly streamUs: number;
  /** CPU milliseconds to register the limits of 100,000 keys. */
  readonly startMs: number;
  /** Their heap memory in MB: before their first request, and after it. */
  readonly startMb: number;
  readonly usedMb: number;
}

/** Measures one limiter. @param rounds number of rounds of 100,000 requests, over all keys */
function measureLimits(rounds: number): LimitsFigure {
  let nowMs = Date.UTC(2026, 10, 22);
  const before = heapMb();
  const limiter = new Limiter({ now: () => nowMs });
  const startedAt = process.cpuUsage();
  const shared = [
    limiter.scope(owner('gateway', ''), GATEWAY),
    limiter.scope(owner('project', 'search'), PROJECT),
  ];
  // Each key has its own entries, like keys from a database.
  const keys = Array.from({ length: KEYS }, (_, at) =>
    limiter.scope(
      owner('key', `key_${at}`),
      KEY.map((entry) => ({ ...entry })),
    ),
  );
  const startMs = sinceUs(startedAt) / 1000;
  const startMb = heapMb() - before;
  const few = keys.slice(0, 100).map((key) => [...shared, key]);
  const round = (scopesOf: (at: number) => readonly Scope[], growths: number): number => {
    const from = process.cpuUsage();
    for (let at = 0; at < REQUESTS; at += 1) {
      if (at % 10 === 0) nowMs += 1;
      run(limiter, scopesOf(at), growths, nowMs);
    }
    return sinceUs(from) / REQUESTS;
  };
  const usual = (at: number): readonly Scope[] => few[at % few.length] ?? [];
  round(usual, 10);
  const requestUs = median(Array.from({ length: rounds }, () => round(usual, 0)));
  const streamUs = median(Array.from({ length: rounds }, () => round(usual, 10)));
  round((at) => [...shared, keys[at] ?? few[0]?.[2]].filter((scope) => scope !== undefined), 0);
  return { requestUs, streamUs, startMs, startMb, usedMb: heapMb() - before };
}

/**
 * Total CPU microseconds of limits per request: estimate, admission, ten updates of the running cost, headers and
 * settlement. Median of the rounds.
 * @param entries limits of its key; empty: measures the cost without limits
 */
function measureRequests(rounds: number, entries: readonly LimitEntry[]): number {
  const source = { entriesOf: () => [], limitsProviders: () => false, all: () => [] };
  const limits = new Limits(source, Date.now);
  const tenant = { keyId: 'key_1', projectId: 'key_1', name: 'ci', limits: entries };
  const text = 'word '.repeat(400);
  const request = {
    items: [{ type: 'message', role: 'user', parts: [{ type: 'text', text }] }],
    tools: [],
    stream: true,
  } as unknown as CanonicalRequest;
  const price = { input: 1, output: 4, source: 'bench' };
  const endpoint = { modelId: 'openai/gpt-5', price, maxOutputTokens: null } as unknown as Endpoint;
  const state = { health: () => ({ usualOutputTokens: 500 }) } as unknown as Parameters<typeof estimateOf>[3];
  const answer = (): void => {
    const quota = RequestQuota.of(limits, tenant, Date.now);
    if (!quota) return;
    const inputTokens = estimatedInputTokens(request);
    // Resolves immediately, because no limits are shared.
    void quota.admit(estimateOf({ request, inputTokens }, endpoint, null, state), Date.now() + HOUR);
    const runningCost = quota.begin({ price, inputTokens }, 0, () => null);
    for (let read = 1; read <= 10; read += 1) runningCost?.note(read * 40, null);
    runningCost?.end({ usage: null, cost: { usd: 0.001, items: {}, price: null } });
    const left = quota.left();
    if (left) encodeRateLimitHeaders(left);
    quota.settle({ requests: 1, tokens: 700, nanoUsd: nanoUsdOf(0.001) });
  };
  const round = (): number => {
    const from = process.cpuUsage();
    for (let at = 0; at < REQUESTS; at += 1) answer();
    return sinceUs(from) / REQUESTS;
  };
  round();
  return median(Array.from({ length: rounds }, round));
}

/** Figures of limits in the report. */
export function limitsFigures(rounds: number): Figures {
  const { requestUs, startMb } = measureLimits(rounds);
  return { cpuPerRequest: requestUs, keptMb: startMb };
}

function run(limiter: Limiter, scopes: readonly Scope[], growths: number, nowMs: number): void {
  const nanoUsd = nanoUsdOf(0.002);
  const admitted = limiter.admit(
    scopes,
    { model: 'openai/gpt-5', endUser: null, tokens: 900, nanoUsd },
    nowMs + HOUR,
  );
  if (admitted.type === 'refusal') throw new Error(`refused by ${limitId(admitted.limit)}`);
  for (let n = 1; n <= growths; n += 1)
    limiter.grow(admitted, { requests: 1, tokens: n * 150, nanoUsd: n * 300_000 });
  limiter.settle(admitted, { requests: 1, tokens: 1200, nanoUsd: nanoUsd + 1 });
}

function owner(kind: Owner['kind'], id: string): Owner {
  return { kind, id, name: id };
}

function heapMb(): number {
  Bun.gc(true);
  return process.memoryUsage().heapUsed / 1e6;
}

function sinceUs(from: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(from);
  return user + system;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

if (import.meta.main) {
  const { requestUs, streamUs, startMs, startMb, usedMb } = measureLimits(9);
  console.log(`admission and settlement under five limits: ${requestUs.toFixed(2)} µs of CPU`);
  console.log(`the same with ten usage updates of a stream: ${streamUs.toFixed(2)} µs`);
  const own = [...GATEWAY, ...PROJECT, ...KEY];
  console.log(`total cost for a streamed request: ${measureRequests(9, own).toFixed(2)} µs`);
  console.log(`without limits: ${measureRequests(9, []).toFixed(2)} µs`);
  console.log(`${KEYS} keys with limits: ${startMs.toFixed(0)} ms of CPU, ${startMb.toFixed(0)} MB`);
  console.log(`after one request per key: ${usedMb.toFixed(0)} MB`);
}
