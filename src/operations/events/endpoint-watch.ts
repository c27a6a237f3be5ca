// Finds out which endpoints have changed their state since it looked last. Knows nobody who wants to hear of it.
import type { RoutingState, Standing } from '../../engine/routing/index.ts';

/** An endpoint whose state is another than before. */
export interface EndpointChange {
  readonly modelId: string;
  readonly slug: string;
  readonly state: Standing['state'];
  /** Unix milliseconds until which it is left alone; null where it is not, or nobody knows. */
  readonly until: number | null;
  readonly reason: string | null;
}

export class EndpointWatch {
  readonly #routing: Pick<RoutingState, 'remembered' | 'seen'>;
  /** States other than sound; what is absent is `closed`. */
  #states: ReadonlyMap<string, EndpointChange>;

  /** The state that it finds now is no change. */
  constructor(routing: Pick<RoutingState, 'remembered' | 'seen'>, nowMs: number) {
    this.#routing = routing;
    this.#states = this.#read(nowMs);
  }

  /** @returns what has changed since the last look */
  look(nowMs: number): readonly EndpointChange[] {
    const before = this.#states;
    const now = (this.#states = this.#read(nowMs));
    const changed = [...now].flatMap(([key, change]) =>
      before.get(key)?.state === change.state ? [] : [change],
    );
    const closed = [...before].flatMap(([key, { modelId, slug }]) =>
      now.has(key) ? [] : [{ modelId, slug, state: 'closed' as const, until: null, reason: null }],
    );
    return [...changed, ...closed];
  }

  #read(nowMs: number): ReadonlyMap<string, EndpointChange> {
    const states = new Map<string, EndpointChange>();
    for (const endpoint of this.#routing.remembered()) {
      const standing = this.#routing.seen(endpoint)?.standing(nowMs);
      if (!standing || standing.state === 'closed') continue;
      const { modelId, slug } = endpoint;
      const { state, until, reason } = standing;
      states.set(JSON.stringify([modelId, slug]), { modelId, slug, state, until, reason });
    }
    return states;
  }
}
