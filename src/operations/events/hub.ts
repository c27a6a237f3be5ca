// Hands on what happens to whoever listens, in the order in which it happens. Without a listener it does nothing; with
// slow ones, it is they who lose. What happens in other processes is brought to it.
import { type Alert, ALERT_TYPES } from '../alerts/index.ts';
import type { JsonObject } from '../../base/json/index.ts';
import type { Settlement, SettlementObserver } from '../../engine/index.ts';
import { generationSummaryView } from '../../accounts/ledger/index.ts';
import type { RoutingState, Standing } from '../../engine/routing/index.ts';
import { type Clock, shownTime } from '../../base/runtime/clock.ts';
import type { UnixMs } from '../../base/units.ts';

/** Events that several processes send each other. */
export type SharedEvent =
  /** A request is over: what a list says of it, made when somebody wants it. */
  | { readonly type: 'generation'; readonly summary: () => JsonObject }
  | { readonly type: 'alert'; readonly alert: Pick<Alert, 'type' | 'message' | 'data'> };

/** An event as another process wrote it: its alert may have a type that this version does not know. */
type ForeignEvent =
  | LiveEvent
  | {
      readonly type: 'alert';
      readonly alert: Pick<Alert, 'message' | 'data'> & { readonly type: string };
    };

/** Keys and projects, the configuration, jobs of the queue, or ends of alerts. */
type Changed = 'tenants' | 'configuration' | 'jobs' | 'alerts';

export type LiveEvent =
  | SharedEvent
  /** Each process finds out by what its own routing knows, which others have told it. */
  | { readonly type: 'endpoint'; readonly change: EndpointChange }
  /** Something is otherwise than before, as this process has found out. */
  | { readonly type: 'change'; readonly of: Changed }
  /** So many of other processes were not told here. */
  | { readonly type: 'lost'; readonly events: number };

/** Called in the middle of other work: takes microseconds, and never throws. */
type Listener<Event> = (event: Event) => void;

const LOOK_MS = 1_000;

export class EventHub implements SettlementObserver {
  /** True while somebody listens, here or in another process. */
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

  /** Whether somebody listens here. */
  get hasAudience(): boolean {
    return this.#listeners.size > 0;
  }

  settled({ generation, attempts, principal }: Settlement): void {
    const summary = (): JsonObject => ({
      ...generationSummaryView(generation, attempts),
      key_name: principal.name,
    });
    this.#publish({ type: 'generation', summary });
  }

  /** Operators are told of this. */
  alerted(alert: Alert): void {
    this.#publish({ type: 'alert', alert });
  }

  /** Something is otherwise here from now on. */
  changed(of: Changed): void {
    this.bring({ type: 'change', of });
  }

  /**
   * Tells a listener of everything from now on.
   * @param closing called when the gateway stops
   * @returns what ends it
   */
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

  /** Calls back when the first listens here, and when the last has left. */
  whenAudience(changed: (isThere: boolean) => void): void {
    this.#audience = changed;
  }

  /** Hands on what happens here to whoever carries it to other processes. @param listener null: to nobody any more */
  carry(listener: Listener<SharedEvent> | null): void {
    this.#remote = listener;
    this.#changed();
  }

  /** Delivers an event of another process to the listeners here. An alert of an unknown type is left out. */
  bring(event: ForeignEvent): void {
    if (!isKnown(event)) return;
    for (const listener of this.#listeners) listener(event);
  }

  /** Nothing happens here any more. */
  stop(): void {
    for (const closing of this.#closings) closing();
  }

  #look(): () => void {
    const clock = this.#clock;
    const watch = new EndpointWatch(this.#routing, clock.now());
    return this.#clock.every(LOOK_MS, () => {
      for (const change of watch.look(clock.now()))
        this.bring({ type: 'endpoint', change: { ...change, until: shownTime(clock, change.until) } });
    });
  }

  #changed(): void {
    this.hasSubscribers = this.hasAudience || this.#remote !== null;
  }

  #publish(event: SharedEvent): void {
    this.#remote?.(event);
    this.bring(event);
  }
}

function isKnown(event: ForeignEvent): event is LiveEvent {
  return event.type !== 'alert' || ALERT_TYPES.some((type) => type === event.alert.type);
}

// Finds out which endpoints have changed their state since it looked last. Knows nobody who wants to hear of it.

/** An endpoint whose state is another than before. */
export interface EndpointChange {
  readonly modelId: string;
  readonly slug: string;
  readonly state: Standing['state'];
  /** Unix milliseconds until which it is left alone; null where it is not, or nobody knows. */
  readonly until: UnixMs | null;
  readonly reason: string | null;
}

class EndpointWatch {
  readonly #routing: Pick<RoutingState, 'remembered' | 'seen'>;
  /** States other than sound; what is absent is `closed`. */
  #states: ReadonlyMap<string, EndpointChange>;

  /** The state that it finds now is no change. */
  constructor(routing: Pick<RoutingState, 'remembered' | 'seen'>, nowMs: UnixMs) {
    this.#routing = routing;
    this.#states = this.#read(nowMs);
  }

  /** @returns what has changed since the last look */
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
      const standing = this.#routing.seen(endpoint)?.standing(nowMs);
      if (!standing || standing.state === 'closed') continue;
      const { modelId, slug } = endpoint;
      const { state, until, reason } = standing;
      states.set(JSON.stringify([modelId, slug]), { modelId, slug, state, until, reason });
    }
    return states;
  }
}
