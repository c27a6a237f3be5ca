// Routing's memory with a clock that the test moves: whole attempts at an endpoint in one line each.
import { NO_USAGE, type Usage } from '../../src/canonical/index.ts';
import { MemoryRoutingState } from '../../src/engine/routing/memory-state.ts';
import type { BreakerSettings } from '../../src/engine/routing/settings.ts';
import type { AttemptOutcome, EndpointHealth, EndpointId } from '../../src/engine/routing/state.ts';
import { ManualClock } from './manual-clock.ts';

export const SEED = 20_261_105;
export const SETTINGS: BreakerSettings = { failures: 5, windowMs: 30_000, openMs: 15_000 };
export const A: EndpointId = { modelId: 'openai/gpt-5', slug: 'openai' };
export const B: EndpointId = { modelId: 'openai/gpt-5', slug: 'azure' };

export const SUCCESS: AttemptOutcome = { failure: null, endpointsFault: false, usage: null };
export const CANCELLED: AttemptOutcome = { failure: 'cancelled', endpointsFault: false, usage: null };
export const DOWN: AttemptOutcome = { failure: 'upstream_unavailable', endpointsFault: true, usage: null };
export const CALLERS: AttemptOutcome = { failure: 'invalid_request', endpointsFault: false, usage: null };
export const limited = (retryAfterMs?: number): AttemptOutcome => ({
  failure: 'rate_limited',
  endpointsFault: true,
  retryAfterMs,
  usage: null,
});

export function usage(input: number, cacheRead: number, text: number, reasoning = 0): Usage {
  return {
    ...NO_USAGE,
    input: { ...NO_USAGE.input, uncached: input - cacheRead, cacheRead },
    output: { ...NO_USAGE.output, text, reasoning },
  };
}

/** A state with its clock, and whole attempts in one line. */
export class Bench {
  readonly clock = new ManualClock();
  settings = SETTINGS;
  readonly state: MemoryRoutingState;

  /** @param isListed true for the id of a model of the catalog */
  constructor(isListed?: (modelId: string) => boolean) {
    this.state = new MemoryRoutingState({
      now: this.clock.now,
      breaker: () => this.settings,
      ...(isListed && { isListed }),
    });
  }

  health(endpoint = A): EndpointHealth {
    return this.state.health(endpoint);
  }

  get availability(): string {
    return this.health().availability(this.clock.now()).state;
  }

  get successRate(): number | null {
    return this.health().successRate(this.clock.now());
  }

  /** A stream that shows content after `firstMs` and goes on for `restMs`. */
  stream(firstMs: number, restMs = 0, outcome = SUCCESS, endpoint = A): void {
    const lease = this.state.begin(endpoint, true);
    this.clock.advance(firstMs);
    lease.firstContent();
    this.clock.advance(restMs);
    lease.ended(outcome);
  }

  /** A whole answer, or a failure, after `ms`. */
  whole(ms = 0, outcome = SUCCESS, endpoint = A): void {
    const lease = this.state.begin(endpoint, false);
    this.clock.advance(ms);
    lease.ended(outcome);
  }

  fail(times: number, outcome = DOWN): void {
    for (let n = 0; n < times; n += 1) this.whole(0, outcome);
  }

  /** Open, and then half-open. */
  halfOpen(): void {
    this.fail(SETTINGS.failures);
    this.clock.advance(SETTINGS.openMs);
  }
}
