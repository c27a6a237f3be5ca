// What routing remembers, in the memory of one process and bounded whatever is asked: counts, averages and whose turn
// it is. Forgets what was used longest ago. Knows no policy: who is sent a request is decided by the plan.
import { MeasuredEndpoint } from './measured-endpoint.ts';
import { type HoldNews, type RoutingNews, Tally } from './news.ts';
import { RecentMap } from './recent-map.ts';
import type { BreakerSettings } from './settings.ts';
import type { AttemptLease, EndpointHealth, EndpointId, RoutingState } from './state.ts';

const MOST_ENDPOINTS = 10_000;
const MOST_CONVERSATIONS = 50_000;
const MOST_ROUNDS = 10_000;
/** What is told to other processes at a time. */
const MOST_NEWS = 100;
/** A holder that others know is told again when half of its time is over. */
const TOLD_PART = 0.5;
/** How long a holder is taken from others at most: as long as a vendor keeps a prefix. */
const LONGEST_HOLD_MS = 3_600_000;

/** Where a conversation's prefix is cached. A copy of the id: an endpoint would keep its whole catalog alive. */
interface Hold extends EndpointId {
  /** Unix milliseconds. */
  readonly until: number;
  /** The same, as others were told. */
  readonly toldUntil: number;
}

export interface MemoryStateOptions {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** The settings that hold now: they change with the configuration. */
  readonly breaker: () => BreakerSettings;
  /** True: what is new is collected for other processes, until `takeNews`. */
  readonly isShared?: boolean;
}

/** Remembers at most 10,000 endpoints (those with attempts under way stay), 50,000 conversations, 10,000 rounds. */
export class MemoryRoutingState implements RoutingState {
  readonly #now: () => number;
  readonly #breaker: () => BreakerSettings;
  /** Each plan looks up every candidate: the key is built once for each object. */
  readonly #keys = new WeakMap<EndpointId, string>();
  readonly #endpoints = new RecentMap<MeasuredEndpoint>(MOST_ENDPOINTS, ({ inFlight }) => inFlight === 0);
  readonly #holds = new RecentMap<Hold>(MOST_CONVERSATIONS);
  readonly #turns = new RecentMap<number>(MOST_ROUNDS);
  readonly #isShared: boolean;
  /** Of what there is to tell. */
  readonly #newEndpoints = new Map<string, MeasuredEndpoint>();
  readonly #newHolds = new RecentMap<HoldNews>(MOST_NEWS);

  constructor({ now, breaker, isShared = false }: MemoryStateOptions) {
    this.#now = now;
    this.#breaker = breaker;
    this.#isShared = isShared;
  }

  health(endpoint: EndpointId): EndpointHealth {
    return this.#find(endpoint);
  }

  seen(endpoint: EndpointId): EndpointHealth | null {
    return this.#endpoints.get(this.#keyOf(endpoint)) ?? null;
  }

  remembered(): readonly EndpointId[] {
    return this.#endpoints.keys().map(idOf);
  }

  setAside(endpoint: EndpointId, untilMs: number, reason: string): void {
    this.#find(endpoint).setAside(untilMs, reason);
  }

  takeBack(endpoint: EndpointId): void {
    this.#find(endpoint).takeBack();
  }

  admits(endpoint: EndpointId): boolean {
    return this.#find(endpoint).admits(this.#now());
  }

  begin(endpoint: EndpointId, stream: boolean): AttemptLease {
    const found = this.#find(endpoint);
    const lease = found.begin(stream, this.#now);
    this.#endpoints.set(this.#keyOf(endpoint), found);
    return lease;
  }

  passOver(endpoint: EndpointId): void {
    this.#find(endpoint).passOver();
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

  hold(conversation: string, { modelId, slug }: EndpointId, ttlMs: number): void {
    const until = this.#now() + ttlMs;
    const before = this.#holds.get(conversation);
    const isSame = before?.modelId === modelId && before.slug === slug;
    const told = isSame ? before.toldUntil : 0;
    const isNew = this.#isShared && told - this.#now() < ttlMs * TOLD_PART;
    this.#holds.set(conversation, { modelId, slug, until, toldUntil: isNew ? until : told });
    if (isNew) this.#newHolds.set(conversation, { conversation, modelId, slug, forMs: ttlMs });
  }

  /** True where others should know at once what is new. */
  get hasUrgentNews(): boolean {
    const nowMs = this.#now();
    for (const endpoint of this.#newEndpoints.values()) if (endpoint.hasChanged(nowMs)) return true;
    return false;
  }

  /** What is to be told to other processes; null for nothing. Some of it is left for the next time where it is much. */
  takeNews(): RoutingNews | null {
    const nowMs = this.#now();
    const some = [...this.#newEndpoints].slice(0, MOST_NEWS);
    for (const [key] of some) this.#newEndpoints.delete(key);
    const endpoints = some.flatMap(([key, endpoint]) => endpoint.news(idOf(key), nowMs) ?? []);
    const conversations = this.#newHolds.keys();
    const holds = conversations.flatMap((conversation) => this.#newHolds.get(conversation) ?? []);
    for (const conversation of conversations) this.#newHolds.delete(conversation);
    return endpoints.length + holds.length > 0 ? { endpoints, holds } : null;
  }

  /** Takes what another process has told. */
  learn({ endpoints, holds }: RoutingNews): void {
    const nowMs = this.#now();
    for (const news of endpoints) this.#find(news).learn(news, nowMs);
    for (const { conversation, modelId, slug, forMs } of holds) {
      const until = nowMs + Math.min(forMs, LONGEST_HOLD_MS);
      this.#holds.set(conversation, { modelId, slug, until, toldUntil: until });
    }
  }

  #find(endpoint: EndpointId): MeasuredEndpoint {
    const key = this.#keyOf(endpoint);
    let found = this.#endpoints.get(key);
    if (!found) this.#endpoints.set(key, (found = this.#newEndpoint(key)));
    return found;
  }

  #newEndpoint(key: string): MeasuredEndpoint {
    if (!this.#isShared) return new MeasuredEndpoint(this.#breaker);
    const tally = new Tally(() => this.#newEndpoints.set(key, endpoint));
    const endpoint = new MeasuredEndpoint(this.#breaker, tally);
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
