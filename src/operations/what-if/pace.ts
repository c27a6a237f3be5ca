// Response times of endpoints: from the sample, and for endpoints that are not in it, from routing's measurements.
import type { EndpointId, RoutingState } from '../../engine/routing/index.ts';
import type { PastRequest } from './past-request.ts';
import type { DurationMs } from '../../base/units.ts';

interface Measured {
  requests: number;
  firstMs: DurationMs;
  firsts: number;
  durationMs: DurationMs;
  tokens: number;
}

/** Expected times of a response; null: unknown. */
export interface ExpectedTimes {
  readonly firstContentMs: DurationMs | null;
  readonly durationMs: DurationMs | null;
}

export class Pace {
  readonly #measured = new Map<string, Measured>();
  readonly #state: Pick<RoutingState, 'seen'>;

  constructor(sample: readonly PastRequest[], state: Pick<RoutingState, 'seen'>) {
    this.#state = state;
    for (const { model, endpoint, firstContentMs, durationMs, outputTokens } of sample) {
      const key = keyOf({ modelId: model, slug: endpoint });
      const known = this.#measured.get(key) ?? {
        requests: 0,
        firstMs: 0,
        firsts: 0,
        durationMs: 0,
        tokens: 0,
      };
      known.requests += 1;
      known.durationMs += durationMs;
      known.tokens += outputTokens;
      if (firstContentMs !== null) {
        known.firstMs += firstContentMs;
        known.firsts += 1;
      }
      this.#measured.set(key, known);
    }
  }

  /** Expected times of a response with a number of tokens. */
  expected(endpoint: EndpointId, outputTokens: number): ExpectedTimes {
    const known = this.#measured.get(keyOf(endpoint));
    if (known) {
      const mean = known.durationMs / known.requests;
      const usual = known.tokens / known.requests;
      return {
        firstContentMs: known.firsts > 0 ? known.firstMs / known.firsts : null,
        // Scaled by the number of tokens.
        durationMs: usual > 0 ? (mean * outputTokens) / usual : mean,
      };
    }
    const health = this.#state.seen(endpoint);
    const firstContentMs = health?.firstTokenMs ?? null;
    const perSecond = health?.tokensPerSecond ?? null;
    const durationMs =
      firstContentMs !== null && perSecond !== null
        ? firstContentMs + (outputTokens * 1_000) / perSecond
        : (health?.answerMs ?? null);
    return { firstContentMs, durationMs };
  }
}

function keyOf({ modelId, slug }: EndpointId): string {
  return JSON.stringify([modelId, slug]);
}
