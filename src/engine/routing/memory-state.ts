// Routing state of one process in bounded memory: measurements, cached conversations and round-robin turns. Evicts the
// least recently used entries.
import { MeasuredEndpoint } from './measured-endpoint.ts';
import { type HoldUpdate, type RoutingUpdate, Tally } from './endpoint-updates.ts';
import type { PastAttempt } from './recent-attempts.ts';
import type { BreakerSettings } from './settings.ts';
import type { AttemptLease, EndpointHealth, EndpointId, RoutingState } from './state.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Maximum endpoints. Above it, only endpoints that left the catalog are evicted. */
const MOST_ENDPOINTS = 20_000;
/** Maximum endpoints of models outside of the catalog, because clients can invent names. */
const MOST_UNLISTED = 300;
/** Maximum endpoints disabled by operators. */
const MOST_MANUAL_PAUSES = 10_000;
const MOST_CONVERSATIONS = 50_000;
const MOST_ROUNDS = 10_000;
/** Maximum updates per message to other processes. */
const MOST_UPDATES = 100;
/** Maximum endpoints with unpublished changes. */
const MOST_CHANGED = 2_000;
/** A published cache entry is published again when half of its time has passed. */
const PUBLISHED_PART = 0.5;
/** Maximum duration accepted from other processes: the longest that vendors cache a prefix. */
const LONGEST_HOLD_MS = 3_600_000;

/**
 * Endpoint to which a conversation returns. Stored by id, because an endpoint object would keep its whole catalog
 * in memory.
 */
interface CacheAffinity extends EndpointId {
  readonly until: UnixMs;
  /** `until`, as published. */
  readonly publishedUntil: UnixMs;
}

export interface MemoryStateOptions {
  readonly now: () => UnixMs;
  /** Current settings, which change with the configuration. */
  readonly breaker: () => BreakerSettings;
  /** True: changes are collected for other processes until `takeUpdate`. */
  readonly isShared?: boolean;
  /** True for the id of a model in the current catalog. Default: always. */
  readonly isListed?: (modelId: string) => boolean;
}

/** State set by an operator, separate from the measurements. */
interface ManualPause {
  readonly until: UnixMs;
  readonly reason: string;
}

/**
 * Stores every endpoint of the catalog, 300 others (plus those with running attempts), states set by operators, 50,000
 * conversations and 10,000 round-robin turns.
 */
export class MemoryRoutingState implements RoutingState {
  readonly #now: () => UnixMs;
  readonly #breaker: () => BreakerSettings;
  /** Each plan looks up every candidate, so the key is built once per object. */
  readonly #keys = new WeakMap<EndpointId, string>();
  readonly #isListed: (modelId: string) => boolean;
  readonly #endpoints = new RecentMap<MeasuredEndpoint>(
    MOST_ENDPOINTS,
    ({ inFlight }, key) => inFlight === 0 && !this.#isListed(idOf(key).modelId),
  );
  readonly #unlisted = new RecentMap<MeasuredEndpoint>(MOST_UNLISTED, ({ inFlight }) => inFlight === 0);
  readonly #manualPause = new RecentMap<ManualPause>(MOST_MANUAL_PAUSES);
  readonly #holds = new RecentMap<CacheAffinity>(MOST_CONVERSATIONS);
  readonly #turns = new RecentMap<number>(MOST_ROUNDS);
  readonly #isShared: boolean;
  /** Endpoints with unpublished updates. */
  readonly #newEndpoints = new RecentMap<MeasuredEndpoint>(
    MOST_CHANGED,
    (_, key) => !this.#isListed(idOf(key).modelId),
  );
  readonly #newHolds = new RecentMap<HoldUpdate>(MOST_UPDATES);

  constructor({ now, breaker, isShared = false, isListed = () => true }: MemoryStateOptions) {
    this.#now = now;
    this.#breaker = breaker;
    this.#isShared = isShared;
    this.#isListed = isListed;
  }

  health(endpoint: EndpointId): EndpointHealth {
    return this.#find(endpoint);
  }

  seen(endpoint: EndpointId): EndpointHealth | null {
    return this.#get(this.#keyOf(endpoint)) ?? null;
  }

  remembered(): readonly EndpointId[] {
    return [...this.#unlisted.keys(), ...this.#endpoints.keys()].map(idOf);
  }

  disable(endpoint: EndpointId, untilMs: UnixMs, reason: string): void {
    this.#find(endpoint).disable(untilMs, reason);
    this.#manualPause.set(this.#keyOf(endpoint), { until: untilMs, reason });
  }

  recall(endpoint: EndpointId, attempts: readonly PastAttempt[]): void {
    this.#find(endpoint).recent.seed(attempts);
  }

  enable(endpoint: EndpointId): void {
    this.#manualPause.delete(this.#keyOf(endpoint));
    this.#find(endpoint).enable();
  }

  admits(endpoint: EndpointId): boolean {
    return this.#find(endpoint).admits(this.#now());
  }

  begin(endpoint: EndpointId, stream: boolean): AttemptLease {
    const found = this.#find(endpoint);
    const lease = found.begin(stream, this.#now);
    this.#keep(endpoint, found);
    return lease;
  }

  skipped(endpoint: EndpointId): void {
    this.#find(endpoint).skipped();
  }

  learnContext(endpoint: EndpointId, tokens: number): void {
    this.#find(endpoint).learnContext(tokens, this.#now());
  }

  turn(scope: string, peek: boolean): number {
    const turn = this.#turns.get(scope) ?? 0;
    if (!peek) this.#turns.set(scope, turn + 1);
    return turn;
  }

  holder(conversation: string): EndpointId | null {
    const hold = this.#holds.get(conversation);
    if (!hold) return null;
    if (this.#now() < hold.until) return hold;
    this.#holds.delete(conversation);
    return null;
  }

  hold(conversation: string, { modelId, slug }: EndpointId, ttlMs: DurationMs): void {
    const until = this.#now() + ttlMs;
    const before = this.#holds.get(conversation);
    const isSame = before?.modelId === modelId && before.slug === slug;
    const published = isSame ? before.publishedUntil : 0;
    const isNew = this.#isShared && published - this.#now() < ttlMs * PUBLISHED_PART;
    this.#holds.set(conversation, { modelId, slug, until, publishedUntil: isNew ? until : published });
    if (isNew) this.#newHolds.set(conversation, { conversation, modelId, slug, forMs: ttlMs });
  }

  /** True when changes should be published immediately. */
  get hasUrgentUpdate(): boolean {
    const nowMs = this.#now();
    return this.#newEndpoints.keys().some((key) => this.#newEndpoints.get(key)?.hasChanged(nowMs));
  }

  /** The next message for other processes. Null: none. A backlog takes several messages. */
  takeUpdate(): RoutingUpdate | null {
    const nowMs = this.#now();
    const some = this.#newEndpoints.keys().slice(0, MOST_UPDATES);
    const endpoints = some.flatMap((key) => this.#newEndpoints.get(key)?.update(idOf(key), nowMs) ?? []);
    for (const key of some) this.#newEndpoints.delete(key);
    const conversations = this.#newHolds.keys();
    const holds = conversations.flatMap((conversation) => this.#newHolds.get(conversation) ?? []);
    for (const conversation of conversations) this.#newHolds.delete(conversation);
    return endpoints.length + holds.length > 0 ? { endpoints, holds } : null;
  }

  /** Applies another process's message. */
  learn({ endpoints, holds }: RoutingUpdate): void {
    const nowMs = this.#now();
    for (const update of endpoints) {
      this.#find(update).learn(update, nowMs);
      const key = this.#keyOf(update);
      if (update.isEnabledAgain) this.#manualPause.delete(key);
      if (update.disabled)
        this.#manualPause.set(key, { until: nowMs + update.disabled.forMs, reason: update.disabled.reason });
    }
    for (const { conversation, modelId, slug, forMs } of holds) {
      const until = nowMs + Math.min(forMs, LONGEST_HOLD_MS);
      this.#holds.set(conversation, { modelId, slug, until, publishedUntil: until });
    }
  }

  #get(key: string): MeasuredEndpoint | undefined {
    return this.#endpoints.get(key) ?? this.#unlisted.get(key);
  }

  #find(endpoint: EndpointId): MeasuredEndpoint {
    const key = this.#keyOf(endpoint);
    let found = this.#get(key);
    if (!found) this.#keep(endpoint, (found = this.#newEndpoint(key)));
    return found;
  }

  /** Marks the endpoint as most recent. The catalog may have changed since it was stored. */
  #keep(endpoint: EndpointId, measured: MeasuredEndpoint): void {
    const key = this.#keyOf(endpoint);
    const isListed = this.#isListed(endpoint.modelId);
    (isListed ? this.#unlisted : this.#endpoints).delete(key);
    (isListed ? this.#endpoints : this.#unlisted).set(key, measured);
  }

  #newEndpoint(key: string): MeasuredEndpoint {
    const tally = this.#isShared ? new Tally(() => void this.#newEndpoints.set(key, endpoint)) : undefined;
    const endpoint = new MeasuredEndpoint(this.#breaker, tally);
    const manualPause = this.#manualPause.get(key);
    if (manualPause && manualPause.until > this.#now())
      endpoint.disable(manualPause.until, manualPause.reason);
    return endpoint;
  }

  #keyOf(endpoint: EndpointId): string {
    let key = this.#keys.get(endpoint);
    if (key === undefined) {
      key = JSON.stringify([endpoint.modelId, endpoint.slug]);
      this.#keys.set(endpoint, key);
    }
    return key;
  }
}

function idOf(key: string): EndpointId {
  const [modelId = '', slug = ''] = JSON.parse(key) as readonly string[];
  return { modelId, slug };
}

// Bounded map that evicts the least recently set entries.

class RecentMap<Value> {
  readonly #entries = new Map<string, Value>();
  readonly #limit: number;
  readonly #mayEvict: (value: Value, key: string) => boolean;

  /** @param limit maximum entries, not counting those that must stay @param mayEvict true: the entry may be evicted now */
  constructor(limit: number, mayEvict: (value: Value, key: string) => boolean = () => true) {
    this.#limit = limit;
    this.#mayEvict = mayEvict;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key);
  }

  /** Keys, least recently set first. */
  keys(): readonly string[] {
    return [...this.#entries.keys()];
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }

  /** Sets an entry as the most recent one, and evicts others if necessary. */
  set(key: string, value: Value): void {
    this.#entries.delete(key);
    this.#makeRoom();
    this.#entries.set(key, value);
  }

  #makeRoom(): void {
    let unseen = this.#entries.size;
    if (unseen < this.#limit) return;
    // A Map iterates in insertion order, oldest first. Entries that must stay are inserted again at the end.
    for (const [key, value] of this.#entries) {
      if (unseen === 0 || this.#entries.size < this.#limit) return;
      unseen -= 1;
      this.#entries.delete(key);
      if (!this.#mayEvict(value, key)) this.#entries.set(key, value);
    }
  }
}
