// Routing state for a simulated decision: current measurements and breakers, but separate round-robin turns and no
// conversations. Nothing is written back.
import type { AttemptLease, EndpointHealth, EndpointId, RoutingState } from '../../engine/routing/index.ts';

export class SteadyState implements RoutingState {
  readonly #now: RoutingState;
  readonly #turns = new Map<string, number>();

  constructor(now: RoutingState) {
    this.#now = now;
  }

  health(endpoint: EndpointId): EndpointHealth {
    return this.#now.health(endpoint);
  }

  seen(endpoint: EndpointId): EndpointHealth | null {
    return this.#now.seen(endpoint);
  }

  remembered(): readonly EndpointId[] {
    return this.#now.remembered();
  }

  admits(): boolean {
    return true;
  }

  turn(scope: string): number {
    const turn = this.#turns.get(scope) ?? 0;
    this.#turns.set(scope, turn + 1);
    return turn;
  }

  holder(): EndpointId | null {
    return null;
  }

  begin(): AttemptLease {
    throw new TypeError('an estimate sends no requests');
  }

  hold(): void {}

  recall(): void {}

  disable(): void {}

  enable(): void {}

  skipped(): void {}

  learnContext(): void {}
}
