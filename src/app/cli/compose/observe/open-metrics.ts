// Opens the metrics: counters of requests, readings of the process, and their own listener.
import type { Catalog } from '../../../../catalog/index.ts';
import type { Gateway, KeptStreams } from '../../../../engine/index.ts';
import type { Jobs } from '../jobs/open-jobs.ts';
import type { SharedLimits } from '../../../../cluster/counters/index.ts';
import { type Limits, limitText } from '../../../../accounts/limits/index.ts';
import {
  type Exposed,
  Histogram,
  lazyExposition,
  METRICS,
  type Readings,
  RequestMetrics,
  type Sample,
  single,
} from '../../../../operations/metrics/index.ts';
import type { RoutingState, Availability } from '../../../../engine/routing/index.ts';
import type { Listener } from '../../../../base/runtime/http-server.ts';
import type { Clock } from '../../../../base/runtime/clock.ts';
import { residentBytes, usedMs } from '../../../../base/runtime/machine.ts';
import type { MemoryBudget } from '../../../../server/body/memory-budget.ts';
import type { JobCount, LedgerStore } from '../../../../accounts/ports/index.ts';
import type { Counters } from '../../../../base/telemetry/counters.ts';
import { listenOrExplain } from '../../listen-or-explain.ts';
import type { UnixMs } from '../../../../base/units.ts';

/** Maximum endpoints with metrics; those tried longest ago are left out. */
const MOST_ENDPOINTS = 1000;
const STATES: readonly Availability['state'][] = ['closed', 'half-open', 'open'];

/** Requests whose spans were exported, or dropped. */
type SpanCounts = Readonly<Record<'exported' | 'dropped', number>>;
/** Requests whose payloads were stored, or not. */
type PayloadCounts = Readonly<Record<'kept' | 'dropped', number>>;

/** Created before the gateway, whose requests are counted here. */
export class Metrics {
  readonly requests: RequestMetrics;
  readonly #delays = new Histogram(METRICS.loopDelay.buckets);
  readonly #catalog: () => Catalog;
  readonly #spans: SpanCounts;
  readonly #payloads: PayloadCounts;

  /** @param catalog the current one */
  constructor(catalog: () => Catalog, spans: SpanCounts, payloads: PayloadCounts) {
    this.#catalog = catalog;
    this.#spans = spans;
    this.#payloads = payloads;
    this.requests = new RequestMetrics((name) => {
      const id = catalog().find(name)?.id;
      return id !== undefined && catalog().isListed(id) ? id : null;
    });
  }

  /** Records the event loop delay, in milliseconds. */
  late(ms: number): void {
    this.#delays.add(ms / 1000);
  }

  /** @returns a function that collects all metrics */
  open({
    gateway,
    jobs,
    streams,
    routing,
    limits,
    sharedLimits,
    memory,
    counters,
    ledger,
    clock,
  }: MetricSources): () => Promise<Exposed> {
    const startedAt = clock.wall();
    const counted = (): Readonly<Record<string, number>> => counters.read();
    const refused = (reason: string, value = 0): Sample => ({ labels: { reason }, value });
    return lazyExposition({
      ...this.requests.readings,
      limitUsed: () => limitsUsed(limits),
      ...sharingReadings(sharedLimits),
      endpoints: () => this.#endpoints(routing, clock.now()),
      running: () => single(gateway.active),
      streams: () => single(gateway.streaming),
      jobs: () =>
        jobs.counts().map(({ kind, state, jobs: value }) => ({ labels: { kind, jobState: state }, value })),
      jobsOldest: () => oldestJobs(jobs.counts(), clock.wall()),
      jobsRunning: () => single(jobs.runner.running),
      keptStreams: () => single(streams.size.streams),
      keptStreamBytes: () => single(streams.size.bytes),
      refusals: () => [
        refused('lag', counted()['refused_for_lag']),
        refused('memory', counted()['refused_for_memory']),
        refused('ledger', counted()['refused_for_ledger']),
        refused('budget', memory.refusals),
      ],
      stalls: () => single(counted()['lag_stalls'] ?? 0),
      failedKeys: () => single(counted()['failed_authentications'] ?? 0),
      traced: () => [
        { labels: { outcome: 'exported' }, value: this.#spans.exported },
        { labels: { outcome: 'dropped' }, value: this.#spans.dropped },
      ],
      payloads: () => [
        { labels: { outcome: 'kept' }, value: this.#payloads.kept },
        { labels: { outcome: 'dropped' }, value: this.#payloads.dropped },
      ],
      loopDelay: () => [{ labels: {}, histogram: this.#delays }],
      held: () => single(memory.heldBytes),
      journal: () => single(ledger.backlog().bytes),
      stuck: () => single(ledger.backlog().isStuck ? 1 : 0),
      full: () => single(ledger.backlog().isFull ? 1 : 0),
      resident: () => single(residentBytes()),
      cpu: () => single(usedMs() / 1000),
      started: () => single(startedAt / 1000),
    });
  }

  *#endpoints(routing: RoutingState, now: UnixMs): Iterable<Sample> {
    let shown = 0;
    for (const endpoint of routing.remembered().toReversed()) {
      const health = routing.seen(endpoint);
      if (shown >= MOST_ENDPOINTS) return;
      // Plans read the state of many endpoints that get no requests.
      if (health?.successRate(now) == null || !this.#catalog().isListed(endpoint.modelId)) continue;
      shown += 1;
      const availability = health.availability(now).state;
      const labels = { model: endpoint.modelId, endpoint: endpoint.slug };
      for (const state of STATES)
        yield { labels: { ...labels, state }, value: availability === state ? 1 : 0 };
    }
  }
}

/** Limits of keys are only reported as spend and by `dragoman limits`, because there may be a hundred thousand. */
const REPORTED_OWNERS = ['gateway', 'project', 'provider'] as const;
const MOST_LIMITS = 1000;

function limitsUsed(limits: Limits): readonly Sample[] {
  const limitUsages = limits.limitUsages(limits.writtenFor({ kinds: REPORTED_OWNERS }));
  return limitUsages.slice(0, MOST_LIMITS).map(({ limit: { owner, rule }, used }) => ({
    labels: { ownerType: owner.kind, owner: owner.name, limit: limitText(rule) },
    value: used / rule.amount,
  }));
}

/** Waiting time of the oldest job of each kind that has not begun. */
function oldestJobs(counts: readonly JobCount[], nowMs: UnixMs): readonly Sample[] {
  return counts
    .filter(({ state }) => state === 'queued' || state === 'waiting')
    .map(({ kind, state, oldestAt }) => ({
      labels: { kind, jobState: state },
      value: Math.max(0, nowMs - oldestAt) / 1000,
    }));
}

const NO_SAMPLES: readonly Sample[] = [];

/** Traffic with processes that share limits. Empty: none. */
function sharingReadings(shared: SharingState | null): Pick<Readings, SharingMetric> {
  const read = (value: (state: SharingState) => number) => (): Iterable<Sample> =>
    shared ? single(value(shared)) : NO_SAMPLES;
  return {
    counterCalls: () =>
      shared
        ? [
            { labels: { outcome: 'answered' }, value: shared.traffic.calls - shared.traffic.failures },
            { labels: { outcome: 'failed' }, value: shared.traffic.failures },
          ]
        : NO_SAMPLES,
    counterClaims: read(({ traffic }) => traffic.cells),
    counterWaits: read(({ traffic }) => traffic.waits),
    countersRestored: read(({ traffic }) => traffic.restored),
    sharers: read(({ processes }) => processes),
    unreachable: read(({ isReachable }) => (isReachable ? 0 : 1)),
  };
}

type SharingMetric =
  | 'counterCalls'
  | 'counterClaims'
  | 'counterWaits'
  | 'countersRestored'
  | 'sharers'
  | 'unreachable';
type SharingState = Pick<SharedLimits, 'traffic' | 'processes' | 'isReachable'>;

export interface MetricSources {
  readonly gateway: Gateway;
  readonly jobs: Pick<Jobs, 'runner' | 'counts'>;
  readonly streams: Pick<KeptStreams, 'size'>;
  readonly routing: RoutingState;
  readonly limits: Limits;
  /** Null: limits are not shared. */
  readonly sharedLimits: SharingState | null;
  readonly memory: MemoryBudget;
  readonly counters: Counters;
  readonly ledger: LedgerStore;
  readonly clock: Pick<Clock, 'now' | 'wall'>;
}

/**
 * Serves metrics at their own address, without authentication. Throws GatewayError when it cannot listen.
 * @param address null: none
 * @param isShared true: other workers listen there too
 */
export function listenForScrapes(
  address: { readonly host: string; readonly port: number } | null,
  expose: () => Promise<Exposed>,
  isShared: boolean,
): Listener | null {
  if (!address) return null;
  return listenOrExplain({
    hostname: address.host,
    port: address.port,
    isShared,
    maxBodyBytes: 0,
    hot: {},
    fallback: async ({ method, url }) => {
      if (method !== 'GET' || new URL(url).pathname !== '/metrics')
        return new Response(null, { status: 404 });
      const { text, contentType } = await expose();
      return new Response(text, { headers: { 'content-type': contentType } });
    },
  });
}
