// What routing remembers, in the memory of one process and bounded whatever is asked: counts, averages and whose turn
// it is. Forgets what was used longest ago. Knows no policy: who is sent a request is decided by the plan.
import { MeasuredEndpoint } from './measured-endpoint.ts';
import { RecentMap } from './recent-map.ts';
import type { BreakerSettings } from './settings.ts';
import type { AttemptLease, EndpointHealth, EndpointId, RoutingState } from './state.ts';

const MOST_ENDPOINTS = 10_000;
const MOST_CONVERSATIONS = 50_000;
const MOST_ROUNDS = 10_000;

/** Where a conversation's prefix is cached. A copy of the id: an endpoint would keep its whole catalog alive. */
interface Hold extends EndpointId {
  /** Unix milliseconds. */
  readonly until: number;
}

export interface MemoryStateOptions {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** The settings that hold now: they change with the configuration. */
  readonly breaker: () => BreakerSettings;
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

  constructor({ now, breaker }: MemoryStateOptions) {
    this.#now = now;
    this.#breaker = breaker;
  }

  health(endpoint: EndpointId): EndpointHealth {
    return this.#find(endpoint);
  }

  seen(endpoint: EndpointId): EndpointHealth | null {
    return this.#endpoints.get(this.#keyOf(endpoint)) ?? null;
  }

  remembered(): readonly EndpointId[] {
    return this.#endpoints.keys().map((key) => {
      const [modelId = '', slug = ''] = JSON.parse(key) as readonly string[];
      return { modelId, slug };
    });
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
    this.#holds.set(conversation, { modelId, slug, until: this.#now() + ttlMs });
  }

  #find(endpoint: EndpointId): MeasuredEndpoint {
    const key = this.#keyOf(endpoint);
    let found = this.#endpoints.get(key);
    if (!found) this.#endpoints.set(key, (found = new MeasuredEndpoint(this.#breaker)));
    return found;
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
