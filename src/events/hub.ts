// Hands on what happens to whoever listens, in the order in which it happens. Without a listener it does nothing; with
// slow ones, it is they who lose.
import type { Alert } from '../alerts/index.ts';
import type { Settlement, SettlementObserver } from '../engine/index.ts';
import type { RoutingState } from '../routing/index.ts';
import type { Clock } from '../runtime/clock.ts';
import { type EndpointChange, EndpointWatch } from './endpoint-watch.ts';

export type LiveEvent =
  | { readonly type: 'generation'; readonly settlement: Settlement }
  | { readonly type: 'endpoint'; readonly change: EndpointChange }
  | { readonly type: 'alert'; readonly alert: Alert };

/** Called in the middle of other work: takes microseconds, and never throws. */
type Listener = (event: LiveEvent) => void;

const LOOK_MS = 1_000;

export class EventHub implements SettlementObserver {
  /** True while somebody listens. */
  isHeard = false;
  readonly #routing: RoutingState;
  readonly #clock: Clock;
  readonly #listeners = new Set<Listener>();
  readonly #closings = new Set<() => void>();
  #stopLooking: (() => void) | undefined;

  constructor(routing: RoutingState, clock: Clock) {
    this.#routing = routing;
    this.#clock = clock;
  }

  settled(settlement: Settlement): void {
    this.#tell({ type: 'generation', settlement });
  }

  /** Operators are told of this. */
  alerted(alert: Alert): void {
    this.#tell({ type: 'alert', alert });
  }

  /**
   * Tells a listener of everything from now on.
   * @param closing called when the gateway stops
   * @returns what ends it
   */
  listen(listener: Listener, closing: () => void): () => void {
    this.#listeners.add(listener);
    this.isHeard = true;
    this.#closings.add(closing);
    this.#stopLooking ??= this.#look();
    return () => {
      this.#closings.delete(closing);
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.isHeard = false;
      this.#stopLooking?.();
      this.#stopLooking = undefined;
    };
  }

  /** Nothing happens here any more. */
  stop(): void {
    for (const closing of this.#closings) closing();
  }

  #look(): () => void {
    const { now } = this.#clock;
    const watch = new EndpointWatch(this.#routing, now());
    return this.#clock.every(LOOK_MS, () => {
      for (const change of watch.look(now())) this.#tell({ type: 'endpoint', change });
    });
  }

  #tell(event: LiveEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}
