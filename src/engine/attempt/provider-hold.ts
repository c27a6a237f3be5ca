// Reservation of an attempt in its provider's limits: one request, and the tokens that it is expected to need. A
// provider without room counts as one that refused: the next one is asked.
import { GatewayError } from '../../canonical/index.ts';
import type { Protocol } from '../../protocols/index.ts';
import { inputTokens, outputTokens } from '../../canonical/index.ts';
import type { Limiter, Reservation, Scope } from '../../accounts/limits/index.ts';
import { refusalText } from '../../accounts/limits/index.ts';
import { estimateOf } from '../cost-estimate.ts';
import { admitOrAsk } from '../admit-or-ask.ts';
import { waitOf } from '../limit-errors.ts';
import type { AttemptServices } from './attempt-input.ts';
import type { Charge } from './attempt-record.ts';
import type { PreparedAttempt } from './prepared.ts';

export class ProviderHold {
  readonly #limiter: Limiter;
  readonly #scope: Scope;
  readonly #reservation: Reservation;
  readonly #prepared: PreparedAttempt;

  private constructor(limiter: Limiter, scope: Scope, reservation: Reservation, prepared: PreparedAttempt) {
    this.#limiter = limiter;
    this.#scope = scope;
    this.#reservation = reservation;
    this.#prepared = prepared;
  }

  /**
   * Takes it.
   * @param expiresAtMs when the attempt must have ended
   * @returns null where the provider has no limits
   * @throws GatewayError `rate_limited` where there is no room
   */
  static async take(
    prepared: PreparedAttempt,
    expiresAtMs: number,
    { limits, routing, clock }: Pick<AttemptServices, 'limits' | 'routing' | 'clock'>,
  ): Promise<ProviderHold | null> {
    const { endpoint, request } = prepared;
    const scope = limits.ofProvider(endpoint.provider);
    if (!scope) return null;
    const asked = { request, inputTokens: prepared.estimateInput() };
    const { model, tokens, certainTokens } = estimateOf(asked, endpoint, null, routing);
    const { limiter } = limits;
    const estimate = { model, endUser: null, tokens, certainTokens, nanoUsd: 0 };
    const outcome = await admitOrAsk(limiter, [scope], estimate, expiresAtMs);
    if (outcome.type === 'reservation') return new ProviderHold(limiter, scope, outcome, prepared);
    throw new GatewayError('rate_limited', refusalText(outcome), {
      code: 'rate_limit_exceeded',
      retryAfterMs: waitOf(outcome, clock.wall()),
    });
  }

  /** The head of the answer is here: the vendor may have counted more than we know of. */
  learn({ upstream }: Protocol, header: (name: string) => string | null): void {
    for (const { kind, amount, remaining } of upstream.announcedLimits?.(header) ?? [])
      this.#limiter.correct(this.#scope, this.#prepared.endpoint.modelId, { kind, amount }, remaining);
  }

  /** The attempt is over. @param wasSent whether the vendor has seen it at all */
  settle({ usage }: Charge, wasSent: boolean): void {
    const tokens = usage ? inputTokens(usage) + outputTokens(usage) : 0;
    this.#limiter.settle(this.#reservation, { requests: wasSent ? 1 : 0, tokens, nanoUsd: 0 });
  }
}
