// Opens the metrics: what requests are counted by, what is read of the running process, and the address of their own.
import type { Catalog } from '../../catalog/index.ts';
import type { Gateway } from '../../engine/index.ts';
import type { Leases } from '../../leases/index.ts';
import { type Limits, limitText } from '../../limits/index.ts';
import {
  type Exposed,
  Histogram,
  lazyExposition,
  METRICS,
  type Readings,
  RequestMetrics,
  type Sample,
  single,
} from '../../metrics/index.ts';
import type { RoutingState, Standing } from '../../routing/index.ts';
import type { Listener } from '../../runtime/http-server.ts';
import { residentBytes, usedMs } from '../../runtime/machine.ts';
import type { MemoryBudget } from '../../server/body/memory-budget.ts';
import type { LedgerStore } from '../../storage/ports.ts';
import type { Counters } from '../../telemetry/counters.ts';
import { listenOrExplain } from '../listen-or-explain.ts';

/** Endpoints whose state is told: those that were tried longest ago are left out. */
const MOST_ENDPOINTS = 1000;
const STATES: readonly Standing['state'][] = ['closed', 'half-open', 'open'];

/** Requests whose spans were exported, and those whose were dropped. */
type SpanCounts = Readonly<Record<'exported' | 'dropped', number>>;
/** Requests whose payloads were kept, and those whose were not. */
type PayloadCounts = Readonly<Record<'kept' | 'dropped', number>>;

/** What is there before the gateway is: its requests are counted here. */
export class Metrics {
  readonly requests: RequestMetrics;
  readonly #delays = new Histogram(METRICS.loopDelay.buckets);
  readonly #catalog: () => Catalog;
  readonly #spans: SpanCounts;
  readonly #payloads: PayloadCounts;

  /** @param catalog as it is configured now */
  constructor(catalog: () => Catalog, spans: SpanCounts, payloads: PayloadCounts) {
    this.#catalog = catalog;
    this.#spans = spans;
    this.#payloads = payloads;
    this.requests = new RequestMetrics((name) => {
      const id = catalog().find(name)?.id;
      return id !== undefined && catalog().isListed(id) ? id : null;
    });
  }

  /** Notes how late the event loop was, in milliseconds. */
  late(ms: number): void {
    this.#delays.add(ms / 1000);
  }

  /** @returns all metrics as they are when it is called */
  open({
    gateway,
    routing,
    limits,
    leases,
    memory,
    counters,
    ledger,
    now,
  }: MetricSources): () => Promise<Exposed> {
    const startedAt = now();
    const counted = (): Readonly<Record<string, number>> => counters.read();
    const refused = (reason: string, value = 0): Sample => ({ labels: { reason }, value });
    return lazyExposition({
      ...this.requests.readings,
      limitUsed: () => limitsUsed(limits),
      ...leaseReadings(leases),
      endpoints: () => this.#endpoints(routing, now()),
      running: () => single(gateway.active),
      streams: () => single(gateway.streaming),
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

  *#endpoints(routing: RoutingState, now: number): Iterable<Sample> {
    let told = 0;
    for (const endpoint of routing.remembered().toReversed()) {
      const health = routing.seen(endpoint);
      if (told >= MOST_ENDPOINTS) return;
      // Plans look at many that nobody asks.
      if (health?.successRate(now) == null || !this.#catalog().isListed(endpoint.modelId)) continue;
      told += 1;
      const standing = health.standing(now).state;
      const labels = { model: endpoint.modelId, endpoint: endpoint.slug };
      for (const state of STATES) yield { labels: { ...labels, state }, value: standing === state ? 1 : 0 };
    }
  }
}

/** Limits of keys are told in money spent alone, and by `dragoman limits`: there may be a hundred thousand. */
const TOLD_OWNERS = ['gateway', 'project', 'provider'] as const;
const MOST_LIMITS = 1000;

function limitsUsed(limits: Limits): readonly Sample[] {
  const standings = limits.standings(limits.writtenFor({ kinds: TOLD_OWNERS }));
  return standings.slice(0, MOST_LIMITS).map(({ limit: { owner, rule }, used }) => ({
    labels: { ownerType: owner.kind, owner: owner.name, limit: limitText(rule) },
    value: used / rule.amount,
  }));
}

const NOTHING: readonly Sample[] = [];

/** What goes on between this process and those that it shares limits with; nothing where it shares none. */
function leaseReadings(leases: LeaseState | null): Pick<Readings, LeaseMetric> {
  const read = (value: (state: LeaseState) => number) => (): Iterable<Sample> =>
    leases ? single(value(leases)) : NOTHING;
  return {
    leaseCalls: () =>
      leases
        ? [
            { labels: { outcome: 'answered' }, value: leases.traffic.calls - leases.traffic.failures },
            { labels: { outcome: 'failed' }, value: leases.traffic.failures },
          ]
        : NOTHING,
    leaseClaims: read(({ traffic }) => traffic.claims),
    leaseWaits: read(({ traffic }) => traffic.waits),
    leasesRestored: read(({ traffic }) => traffic.restored),
    leasesHeld: read(({ held }) => held),
    sharers: read(({ processes }) => processes),
    unreachable: read(({ isReachable }) => (isReachable ? 0 : 1)),
  };
}

type LeaseMetric =
  | 'leaseCalls'
  | 'leaseClaims'
  | 'leaseWaits'
  | 'leasesRestored'
  | 'leasesHeld'
  | 'sharers'
  | 'unreachable';
type LeaseState = Pick<Leases, 'traffic' | 'held' | 'processes' | 'isReachable'>;

export interface MetricSources {
  readonly gateway: Gateway;
  readonly routing: RoutingState;
  readonly limits: Limits;
  /** Null where limits are not shared. */
  readonly leases: LeaseState | null;
  readonly memory: MemoryBudget;
  readonly counters: Counters;
  readonly ledger: LedgerStore;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/**
 * Serves metrics at an address of their own, to everybody who reaches it. Throws GatewayError when it cannot listen.
 * @param address null: there is none
 * @param isShared other workers listen there, too
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
