// A limiter with a clock that the test moves, and admissions in one line each.
import {
  limitId,
  Limiter,
  nanoUsdOf,
  Reservation,
  type Estimate,
  type LimitEntry,
  type Refusal,
  Scope,
} from '../../src/accounts/limits/index.ts';
import { ManualClock } from './manual-clock.ts';

export const NOON = Date.UTC(2026, 10, 22, 12);
export const HOUR = 3_600_000;
export const MODEL = 'openai/gpt-5';

export class LimitsScene {
  readonly clock: ManualClock;
  readonly limiter: Limiter;

  constructor(mostEndUsers?: number) {
    this.clock = new ManualClock(NOON);
    this.limiter = new Limiter({
      now: this.clock.now,
      ...(mostEndUsers === undefined ? {} : { mostEndUsers }),
    });
  }

  key(entries: readonly LimitEntry[], id = 'ci'): Scope {
    return this.limiter.scope({ kind: 'key', id, name: id }, entries);
  }

  admit(scopes: Scope | readonly Scope[], estimate: Partial<Estimate> = {}): Reservation | Refusal {
    const all = { model: MODEL, endUser: null, tokens: 0, nanoUsd: 0, ...estimate };
    return this.limiter.admit(scopes instanceof Scope ? [scopes] : scopes, all, this.clock.now() + HOUR);
  }

  /** An admission that must succeed. */
  admitted(scopes: Scope | readonly Scope[], estimate: Partial<Estimate> = {}): Reservation {
    const outcome = this.admit(scopes, estimate);
    if (outcome instanceof Reservation) return outcome;
    throw new Error(`refused by ${limitId(outcome.limit)}`);
  }

  /** An admission that must fail. */
  refused(scopes: Scope | readonly Scope[], estimate: Partial<Estimate> = {}): Refusal {
    const outcome = this.admit(scopes, estimate);
    if (outcome instanceof Reservation) throw new Error('admitted');
    return outcome;
  }

  /** A whole request that cost this much. */
  spend(scopes: Scope | readonly Scope[], usd: number, estimate: Partial<Estimate> = {}): void {
    const nanoUsd = nanoUsdOf(usd);
    const reservation = this.admitted(scopes, { nanoUsd, ...estimate });
    this.limiter.settle(reservation, { requests: 1, tokens: estimate.tokens ?? 0, nanoUsd });
  }

  /** Amounts used of each limit of an owner, in its own units. */
  used(scope: Scope, endUser: string | null = null): number[] {
    return this.limiter.limitUsages([scope], null, endUser).map(({ used }) => used);
  }
}
