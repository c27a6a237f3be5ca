// States of providers: their endpoints, recent errors, and results of requests. Combines routing state, sums and
// records; database results are cached for a second.
import type { AttemptRecord } from '../../accounts/ledger/index.ts';
import type { LedgerStore, UsageRow, UsageStore } from '../../accounts/ports/index.ts';
import { knownUsd, latencyAt, noUsageSums, type UsageSums } from '../../accounts/usage/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Catalog, Endpoint } from '../../catalog/index.ts';
import { attemptEnd, type PastAttempt, type RoutingState } from '../../engine/routing/index.ts';
import { FAILURE_RULES } from '../../engine/index.ts';
import {
  ENDPOINT_STATES,
  type EndpointState,
  endpointState,
  stateBySums,
  type StateOfEndpoint,
  worstOf,
} from './endpoint-state.ts';
import { knownEndpoints } from './endpoint-view.ts';
import type { DayTime, UsualTimes } from './usual-times.ts';
import type { UnixMs } from '../../base/units.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** 24 hours overlap 25 clock hours. */
const TREND_HOURS = 25;
const KEPT_MS = 1_000;
/** Maximum number of earlier records from which the state of a provider's endpoints is restored. */
const MOST_RECALLED = 200;
/** Maximum number of failed requests that are searched for a provider's errors. */
const MOST_FAILED = 200;
const MOST_ERRORS = 5;

interface StatesDependencies {
  readonly catalog: () => Catalog;
  readonly routing: RoutingState;
  readonly ledger: Pick<LedgerStore, 'list' | 'count'>;
  readonly usage: Pick<UsageStore, 'query'>;
  readonly usual: Pick<UsualTimes, 'day'>;
  readonly clock: Clock;
}

/** An error of a provider, with the number of similar ones. */
export interface RecentError {
  readonly kind: string;
  readonly status: number | null;
  readonly message: string;
  readonly count: number;
  readonly lastMs: UnixMs;
  readonly exampleId: string;
  readonly endpoint: string;
}

export interface EndpointSummary extends StateOfEndpoint {
  readonly endpoint: Endpoint;
}

export interface ProviderSummary {
  readonly id: string;
  readonly state: EndpointState;
  readonly worst: EndpointSummary | undefined;
  readonly endpoints: readonly EndpointSummary[];
  readonly counts: Readonly<Partial<Record<EndpointState, number>>>;
  /** The last 24 hours. */
  readonly day: UsageSums;
  readonly trend: readonly { readonly startMs: UnixMs; readonly attempts: number; readonly failed: number }[];
  /** Latest first; empty unless there is a problem. */
  readonly errors: readonly RecentError[];
  /** Requests of the last 24 hours that another provider served after this one failed. */
  readonly rerouted: number;
  /** Requests that failed, with their last attempt here. */
  readonly failed: number;
}

/** Cached sums. */
interface StoredSums {
  readonly sums: readonly UsageRow[];
  readonly hours: readonly UsageRow[];
  /** By model and endpoint. */
  readonly day: ReadonlyMap<string, DayTime>;
}

/** Caches database results for a second. */
class Kept<T> {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #found = new Map<string, { readonly atMs: UnixMs; readonly value: Promise<T> }>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  get(name: string, read: () => Promise<T>): Promise<T> {
    const now = this.#clock.now();
    const kept = this.#found.get(name);
    if (kept && now - kept.atMs < KEPT_MS) return kept.value;
    const value = read();
    this.#found.set(name, { atMs: now, value });
    value.catch(() => this.#found.delete(name));
    return value;
  }
}

export class ProviderStates {
  readonly #deps: StatesDependencies;
  /** By provider. Restored once per process. */
  readonly #recalled = new Map<string, Promise<void>>();
  readonly #stored: Kept<StoredSums>;
  readonly #errors: Kept<readonly RecentError[]>;
  readonly #moved: Kept<number>;

  constructor(deps: StatesDependencies) {
    this.#deps = deps;
    this.#stored = new Kept(deps.clock);
    this.#errors = new Kept(deps.clock);
    this.#moved = new Kept(deps.clock);
  }

  /** Worst first. States are current; database results are at most a second old. */
  async all(): Promise<readonly ProviderSummary[]> {
    const { catalog, routing, clock } = this.#deps;
    const { sums, hours, day } = await this.#stored.get('sums', () => this.#readSums());
    await this.#recall(sums);
    const now = clock.now();
    const byProvider = Map.groupBy(knownEndpoints(catalog(), routing), ({ provider }) => provider);
    const found = [...catalog().providers().keys()].map(async (id): Promise<ProviderSummary> => {
      const endpoints = (byProvider.get(id) ?? []).map((endpoint): EndpointSummary => {
        const times = day.get(JSON.stringify([endpoint.modelId, endpoint.slug]));
        return { endpoint, ...endpointState(routing.seen(endpoint), now, times) };
      });
      const own = sums.find(({ group }) => group.provider === id)?.sums ?? noUsageSums();
      const worst = worstOf(endpoints);
      const { attempts, failed_attempts: failedAttempts } = own.counts;
      // Attempts may belong to endpoints that are no longer configured.
      const state =
        worst === undefined || worst.state === 'no_traffic'
          ? stateBySums({ attempts, failedAttempts })
          : worst.state;
      const isWrong = state === 'failing' || state === 'recovering' || state === 'degraded';
      const counts = Map.groupBy(endpoints, (each) => each.state);
      return {
        id,
        state,
        worst,
        endpoints,
        counts: Object.fromEntries([...counts].map(([each, of]) => [each, of.length])),
        day: own,
        trend: this.#trend(hours, id),
        errors: isWrong ? await this.#errors.get(id, () => this.errorsOf(id)) : [],
        rerouted: own.counts.failed_attempts > 0 ? await this.#moved.get(id, () => this.#rerouted(id)) : 0,
        failed: own.counts.failed,
      };
    });
    const rank = (state: EndpointState): number => ENDPOINT_STATES.indexOf(state);
    return (await Promise.all(found)).toSorted(
      (a, b) => rank(a.state) - rank(b.state) || (a.id < b.id ? -1 : 1),
    );
  }

  /** Recent distinct errors of a provider within 24 hours. @param most maximum number of requests to search */
  async errorsOf(provider: string, most: number = MOST_FAILED): Promise<readonly RecentError[]> {
    const { ledger, clock } = this.#deps;
    const { generations } = await ledger.list({
      filters: {
        attempted: [provider],
        state: ['recovered', 'broken_stream', 'failed'],
        fromMs: clock.wall() - DAY_MS,
      },
      order: 'desc',
      limit: most,
    });
    const errors = new Map<string, RecentError>();
    for (const { generation, attempts } of generations)
      for (const attempt of attempts.toReversed()) {
        const error = attempt.provider === provider ? attempt.error : null;
        if (!error || attempt.outcome !== 'failed') continue;
        // Errors that differ only in ids and numbers are the same.
        const name = `${attempt.status} ${error.kind} ${error.message.replaceAll(/[\w-]*\d[\w-]*/g, '#')}`;
        const known = errors.get(name);
        if (!known && errors.size >= MOST_ERRORS) continue;
        errors.set(name, {
          kind: error.kind,
          status: attempt.status,
          message: error.message,
          lastMs: attempt.endedAt,
          exampleId: generation.id,
          endpoint: attempt.endpoint,
          ...known,
          count: (known?.count ?? 0) + 1,
        });
      }
    return [...errors.values()];
  }

  async #readSums(): Promise<StoredSums> {
    const [sums, hours, times] = await Promise.all([
      this.#sums(null),
      this.#sums('hour'),
      this.#deps.usual.day(),
    ]);
    const day = new Map(times.map((each) => [JSON.stringify([each.model, each.endpoint]), each]));
    return { sums, hours, day };
  }

  async #sums(interval: 'hour' | null): Promise<readonly UsageRow[]> {
    const { usage, clock } = this.#deps;
    const toMs = clock.wall();
    const wanted =
      interval === null
        ? ({
            counts: ['requests', 'failed', 'attempts', 'failed_attempts', 'nano_usd', 'unpriced'],
            details: true,
          } as const)
        : ({ counts: ['attempts', 'failed_attempts'], details: false } as const);
    const query = {
      fromMs: toMs - DAY_MS,
      toMs,
      interval,
      groupBy: ['provider'] as const,
      filters: {},
      wanted,
    };
    return (await usage.query(query)).rows;
  }

  #trend(rows: readonly UsageRow[], provider: string): ProviderSummary['trend'] {
    const thisHour = Math.floor(this.#deps.clock.wall() / HOUR_MS) * HOUR_MS;
    const own = new Map(
      rows.filter(({ group }) => group.provider === provider).map((row) => [row.startMs, row]),
    );
    return Array.from({ length: TREND_HOURS }, (_, at) => {
      const startMs = thisHour - (TREND_HOURS - 1 - at) * HOUR_MS;
      const counts = own.get(startMs)?.sums.counts;
      return { startMs, attempts: counts?.attempts ?? 0, failed: counts?.failed_attempts ?? 0 };
    });
  }

  /** Recovered requests with an attempt at the provider, minus those that it answered itself. */
  async #rerouted(provider: string): Promise<number> {
    const { ledger, clock } = this.#deps;
    const toMs = clock.wall();
    const edges = [toMs - DAY_MS, toMs];
    const countOf = async (filters: object): Promise<number> => {
      const { intervals } = await ledger.count({ filters: { ...filters, state: ['recovered'] }, edges });
      return intervals.reduce((sum, { count }) => sum + count, 0);
    };
    const [tried, answered] = await Promise.all([
      countOf({ attempted: [provider] }),
      countOf({ provider: [provider] }),
    ]);
    return Math.max(0, tried - answered);
  }

  /** Restores the results of attempts before the start of this process, once for each provider in the sums. */
  async #recall(sums: readonly UsageRow[]): Promise<void> {
    const { catalog } = this.#deps;
    const providers = sums.flatMap(({ group: { provider }, sums: { counts } }) =>
      provider && counts.attempts > 0 && catalog().providers().has(provider) ? [provider] : [],
    );
    const found = providers.map((provider) => {
      const recalled = this.#recalled.get(provider) ?? this.#recallAt(provider);
      this.#recalled.set(provider, recalled);
      recalled.catch(() => this.#recalled.delete(provider));
      return recalled;
    });
    await Promise.all(found);
  }

  async #recallAt(provider: string): Promise<void> {
    const { ledger, clock, catalog, routing } = this.#deps;
    const wall = clock.wall();
    const { generations } = await ledger.list({
      filters: { attempted: [provider], fromMs: wall - DAY_MS },
      order: 'desc',
      limit: MOST_RECALLED,
    });
    const endpoints = new Map(
      knownEndpoints(catalog(), routing)
        .filter((each) => each.provider === provider)
        .map((each) => [JSON.stringify([each.slug, each.model]), each]),
    );
    const past = new Map<Endpoint, PastAttempt[]>();
    for (const { attempts } of generations.toReversed())
      for (const attempt of attempts) {
        const endpoint = endpoints.get(JSON.stringify([attempt.endpoint, attempt.model]));
        if (!endpoint || attempt.outcome === 'cancelled') continue;
        const own = past.get(endpoint) ?? [];
        own.push({ atMs: clock.now() - (wall - attempt.endedAt), end: endOf(attempt) });
        past.set(endpoint, own);
      }
    for (const [endpoint, attempts] of past) routing.recall(endpoint, attempts);
  }
}

function endOf({ outcome, error }: AttemptRecord): PastAttempt['end'] {
  if (outcome === 'completed' || error === null) return 'good';
  return attemptEnd(error.kind, FAILURE_RULES[error.kind].endpointsFault);
}

/** A provider's problem in a few words: `401 key refused`. */
export function problemText({ status, kind }: Pick<RecentError, 'status' | 'kind'>): string {
  // The answer broke after its status had been sent.
  if (status !== null && status < 300) return CUT[kind] ?? 'stream cut';
  const words = WORDS[kind] ?? kind.replaceAll('_', ' ');
  return status === null ? words : `${status} ${words}`;
}

const CUT: Readonly<Record<string, string>> = { timeout: 'stream stalled' };

const WORDS: Readonly<Record<string, string>> = {
  authentication: 'key refused',
  permission: 'key refused',
  rate_limited: 'rate limited',
  quota: 'quota used up',
  not_found: 'model not found',
  timeout: 'timed out',
  upstream_unavailable: 'unavailable',
};

/** Sums of 24 hours in API form. */
export function dayView({ counts, details }: UsageSums) {
  const p95 = latencyAt(0.95, details.firstContents);
  return {
    requests: counts.requests,
    attempts: counts.attempts,
    failed_attempts: counts.failed_attempts,
    good_share: counts.attempts === 0 ? null : 1 - counts.failed_attempts / counts.attempts,
    usd: knownUsd(counts),
    unpriced_requests: counts.unpriced,
    first_content_ms_p95: p95 === Infinity ? null : p95,
  };
}
