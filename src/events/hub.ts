// Hands on what happens to whoever listens, in the order in which it happens. Without a listener it does nothing; with
// slow ones, it is they who lose. What happens in other processes is brought to it.
import type { Alert } from '../alerts/index.ts';
import type { JsonObject } from '../canonical/index.ts';
import type { Settlement, SettlementObserver } from '../engine/index.ts';
import { generationSummaryView } from '../ledger/index.ts';
import type { RoutingState } from '../routing/index.ts';
import type { Clock } from '../runtime/clock.ts';
import { type EndpointChange, EndpointWatch } from './endpoint-watch.ts';

/** What several processes tell each other of. */
export type SharedEvent =
  /** A request is over: what a list says of it, made when somebody wants it. */
  | { readonly type: 'generation'; readonly summary: () => JsonObject }
  | { readonly type: 'alert'; readonly alert: Pick<Alert, 'type' | 'message' | 'data'> };

export type LiveEvent =
  | SharedEvent
  /** Each process finds out by what its own routing knows, which others have told it. */
  | { readonly type: 'endpoint'; readonly change: EndpointChange }
  /** Something else is in force: keys and projects, or the configuration. Each process finds out by itself, too. */
  | { readonly type: 'change'; readonly of: 'tenants' | 'configuration' }
  /** So many of other processes were not told here. */
  | { readonly type: 'lost'; readonly events: number };

/** Called in the middle of other work: takes microseconds, and never throws. */
type Listener<Event> = (event: Event) => void;

const LOOK_MS = 1_000;

export class EventHub implements SettlementObserver {
  /** True while somebody listens, here or in another process. */
  isHeard = false;
  readonly #routing: RoutingState;
  readonly #clock: Clock;
  readonly #listeners = new Set<Listener<LiveEvent>>();
  readonly #closings = new Set<() => void>();
  #elsewhere: Listener<SharedEvent> | null = null;
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

  settled({ generation, attempts }: Settlement): void {
    this.#tellAll({ type: 'generation', summary: () => generationSummaryView(generation, attempts) });
  }

  /** Operators are told of this. */
  alerted(alert: Alert): void {
    this.#tellAll({ type: 'alert', alert });
  }

  /** Something else is in force here from now on. */
  changed(of: 'tenants' | 'configuration'): void {
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
    this.#elsewhere = listener;
    this.#changed();
  }

  /** Tells listeners here of what has happened in another process. */
  bring(event: LiveEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** Nothing happens here any more. */
  stop(): void {
    for (const closing of this.#closings) closing();
  }

  #look(): () => void {
    const { now } = this.#clock;
    const watch = new EndpointWatch(this.#routing, now());
    return this.#clock.every(LOOK_MS, () => {
      for (const change of watch.look(now())) this.bring({ type: 'endpoint', change });
    });
  }

  #changed(): void {
    this.isHeard = this.hasAudience || this.#elsewhere !== null;
  }

  #tellAll(event: SharedEvent): void {
    this.#elsewhere?.(event);
    this.bring(event);
  }
}
