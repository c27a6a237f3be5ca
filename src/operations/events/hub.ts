// Distributes live events to subscribers in order, including events from other processes. Costs nothing without
// subscribers. Slow subscribers lose events.
import { type Alert, ALERT_TYPES } from '../alerts/index.ts';
import type { JsonObject } from '../../base/json/index.ts';
import type { FinishedRequest, RequestObserver } from '../../engine/index.ts';
import { generationSummaryView } from '../../accounts/ledger/index.ts';
import type { RoutingState, Availability } from '../../engine/routing/index.ts';
import { type Clock, shownTime } from '../../base/runtime/clock.ts';
import type { UnixMs } from '../../base/units.ts';

/** Events that processes exchange. */
export type SharedEvent =
  /** A completed request; its summary is built on demand. */
  | { readonly type: 'generation'; readonly summary: () => JsonObject }
  | { readonly type: 'alert'; readonly alert: Pick<Alert, 'type' | 'message' | 'data'> };

/** An event from another process. Its alert may have a type that this version does not know. */
type ForeignEvent =
  | LiveEvent
  | {
      readonly type: 'alert';
      readonly alert: Pick<Alert, 'message' | 'data'> & { readonly type: string };
    };

/** Keys and projects, the configuration, jobs, or ends of alerts. */
type Changed = 'tenants' | 'configuration' | 'jobs' | 'alerts';

export type LiveEvent =
  | SharedEvent
  /** Derived by each process from its own routing state, which is replicated. */
  | { readonly type: 'endpoint'; readonly change: EndpointChange }
  /** Something changed, as detected by this process. */
  | { readonly type: 'change'; readonly of: Changed }
  /** Number of events from other processes that were not received here. */
  | { readonly type: 'lost'; readonly events: number };

/** Called in the middle of other work: must take only microseconds and never throw. */
type Listener<Event> = (event: Event) => void;

const LOOK_MS = 1_000;

export class EventHub implements RequestObserver {
  /** True while there are subscribers, here or in another process. */
  hasSubscribers = false;
  readonly #routing: RoutingState;
  readonly #clock: Clock;
  readonly #listeners = new Set<Listener<LiveEvent>>();
  readonly #closings = new Set<() => void>();
  #remote: Listener<SharedEvent> | null = null;
  #audience: ((isThere: boolean) => void) | undefined;
  #stopLooking: (() => void) | undefined;

  constructor(routing: RoutingState, clock: Clock) {
    this.#routing = routing;
    this.#clock = clock;
  }

  /** True while there are subscribers in this process. */
  get hasAudience(): boolean {
    return this.#listeners.size > 0;
  }

  finished({ generation, attempts, principal }: FinishedRequest): void {
    const summary = (): JsonObject => ({
      ...generationSummaryView(generation, attempts),
      key_name: principal.name,
    });
    this.#publish({ type: 'generation', summary });
  }

  /** Publishes an alert. */
  alerted(alert: Alert): void {
    this.#publish({ type: 'alert', alert });
  }

  /** Publishes a change. */
  changed(of: Changed): void {
    this.deliver({ type: 'change', of });
  }

  /** Subscribes to all events. @param closing called when the gateway stops @returns a function that unsubscribes */
  listen(listener: Listener<LiveEvent>, closing: () => void): () => void {
    this.#listeners.add(listener);
    this.#closings.add(closing);
    this.#stopLooking ??= this.#look();
    this.#changed();
    if (this.#listeners.size === 1) this.#audience?.(true);
    return () => {
      this.#closings.delete(closing);
      if (!this.#listeners.delete(listener) || this.hasAudience) return;
      this.#changed();
      this.#stopLooking?.();
      this.#stopLooking = undefined;
      this.#audience?.(false);
    };
  }

  /** Sets a callback for when the first local subscriber arrives and the last one leaves. */
  whenAudience(changed: (isThere: boolean) => void): void {
    this.#audience = changed;
  }

  /** Sets the listener that forwards local events to other processes. @param listener null: stop forwarding */
  forward(listener: Listener<SharedEvent> | null): void {
    this.#remote = listener;
    this.#changed();
  }

  /** Delivers an event of another process to local subscribers. Alerts of unknown types are dropped. */
  deliver(event: ForeignEvent): void {
    if (!isKnown(event)) return;
    for (const listener of this.#listeners) listener(event);
  }

  /** Closes all subscriptions. */
  stop(): void {
    for (const closing of this.#closings) closing();
  }

  #look(): () => void {
    const clock = this.#clock;
    const watch = new EndpointWatch(this.#routing, clock.now());
    return this.#clock.every(LOOK_MS, () => {
      for (const change of watch.look(clock.now()))
        this.deliver({ type: 'endpoint', change: { ...change, until: shownTime(clock, change.until) } });
    });
  }

  #changed(): void {
    this.hasSubscribers = this.hasAudience || this.#remote !== null;
  }

  #publish(event: SharedEvent): void {
    this.#remote?.(event);
    this.deliver(event);
  }
}

function isKnown(event: ForeignEvent): event is LiveEvent {
  return event.type !== 'alert' || ALERT_TYPES.some((type) => type === event.alert.type);
}

// Detects state changes of endpoints by polling.

/** An endpoint and its new state. */
export interface EndpointChange {
  readonly modelId: string;
  readonly slug: string;
  readonly state: Availability['state'];
  /** Unix milliseconds until which it is skipped; null: not skipped, or unknown. */
  readonly until: UnixMs | null;
  readonly reason: string | null;
}

class EndpointWatch {
  readonly #routing: Pick<RoutingState, 'remembered' | 'seen'>;
  /** States other than `closed`, which is the default. */
  #states: ReadonlyMap<string, EndpointChange>;

  /** Starts with the current states, so that only later changes are reported. */
  constructor(routing: Pick<RoutingState, 'remembered' | 'seen'>, nowMs: UnixMs) {
    this.#routing = routing;
    this.#states = this.#read(nowMs);
  }

  /** @returns changes since the previous call */
  look(nowMs: UnixMs): readonly EndpointChange[] {
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

  #read(nowMs: UnixMs): ReadonlyMap<string, EndpointChange> {
    const states = new Map<string, EndpointChange>();
    for (const endpoint of this.#routing.remembered()) {
      const standing = this.#routing.seen(endpoint)?.availability(nowMs);
      if (!standing || standing.state === 'closed') continue;
      const { modelId, slug } = endpoint;
      const { state, until, reason } = standing;
      states.set(JSON.stringify([modelId, slug]), { modelId, slug, state, until, reason });
    }
    return states;
  }
}
