// Usage that limits grant to one request: reserved at admission, compared with its cost while it runs, and settled once
// with its actual usage.
import { GatewayError, type LimitStates } from '../canonical/index.ts';
import {
  countsAlike,
  type Estimate,
  requiredAmount,
  LEAST,
  type Limits,
  refusalText,
  type Reservation,
  type Scope,
  type Spent,
  type LimitUsage,
  type Tenant,
} from '../accounts/limits/index.ts';
import type { RunningEntry } from '../accounts/ports/index.ts';
import { limitError } from './limit-errors.ts';
import { admitWhenKnown } from './admit-when-known.ts';
import { type CostBasis, RunningCost } from './running-cost.ts';
import type { UnixMs } from '../base/units.ts';

export class RequestQuota {
  readonly #limits: Limits;
  readonly #scopes: readonly Scope[];
  readonly #now: () => UnixMs;
  #estimate: Estimate | undefined;
  #reservation: Reservation | undefined;
  /** Usage of all attempts and tools so far. */
  #nanoUsd = 0;
  #tokens = 0;
  /** Number of turns that have begun. */
  #turns = 1;
  /** Entry in the store of running requests. Undefined: no upstream request yet. Null: not stored. */
  #kept: RunningEntry | null | undefined;
  /** Part of the cost that is due to tools. */
  #toolsNanoUsd = 0;
  /** Nano-USD that are covered without asking a budget again. */
  #reservedNanoUsd = Infinity;

  private constructor(limits: Limits, scopes: readonly Scope[], now: () => UnixMs) {
    this.#limits = limits;
    this.#scopes = scopes;
    this.#now = now;
  }

  /** Null: no limits apply to the tenant. */
  static of(limits: Limits, tenant: Tenant, now: () => UnixMs): RequestQuota | null {
    const scopes = limits.scopesOf(tenant);
    return scopes.length === 0 ? null : new RequestQuota(limits, scopes, now);
  }

  /**
   * Refuses a request based on partial information.
   * @param model catalog id; empty: not in the catalog
   * @param endUser hash of the request's end user
   * @returns null when the request must be read: it may begin, or the limit that refuses it for longest does not count
   * all requests alike
   */
  refuse({ model, endUser }: Pick<Estimate, 'model' | 'endUser'>): GatewayError | null {
    const estimate = { ...LEAST, model, endUser };
    const refusal = this.#limits.limiter.check(this.#scopes, estimate);
    if (!refusal || !countsAlike(refusal.limit.rule)) return null;
    this.#estimate = estimate;
    return limitError(refusal, this.#now());
  }

  /**
   * Admits the request, once. May first ask other processes for capacity.
   * @param expiresAtMs latest end of the request
   * @throws GatewayError 429 `rate_limit_exceeded` or 402 `budget_exceeded`, naming the limit; nothing is reserved
   */
  async admit(estimate: Estimate, expiresAtMs: UnixMs): Promise<void> {
    this.#estimate = estimate;
    const outcome = await admitWhenKnown(this.#limits.limiter, this.#scopes, estimate, expiresAtMs);
    if (outcome.type === 'refusal') throw limitError(outcome, this.#now());
    this.#reservation = outcome;
    this.#reservedNanoUsd = leastReserved(outcome);
  }

  /**
   * Counts a request whose answer is already paid for, so it is never refused. When a limit is exhausted, only the
   * ledger counts it.
   */
  async admitPaid(
    { model, endUser }: Pick<Estimate, 'model' | 'endUser'>,
    expiresAtMs: UnixMs,
  ): Promise<void> {
    this.#estimate = { ...LEAST, model, endUser };
    const outcome = await admitWhenKnown(this.#limits.limiter, this.#scopes, this.#estimate, expiresAtMs);
    if (outcome.type === 'reservation') this.#reservation = outcome;
  }

  /**
   * Begins an attempt.
   * @param toolsNanoUsd cost of gateway tools so far
   * @param keep stores the running cost for crash recovery; called once, with the hash of the end user
   * @returns a tracker of its cost; null: no budget applies
   * @throws GatewayError 402 `budget_exceeded` when the budget does not cover the input, or the price is unknown
   */
  begin(
    asked: CostBasis,
    toolsNanoUsd: number,
    keep: (endUser: string | null) => RunningEntry | null,
  ): RunningCost | null {
    if (this.#reservedNanoUsd === Infinity) return null;
    if (asked.price === null) this.#refuseUnpriced();
    if (this.#kept === undefined) this.#kept = keep(this.#estimate?.endUser ?? null);
    const forTools = this.#spend(toolsNanoUsd - this.#toolsNanoUsd, 0);
    this.#toolsNanoUsd = toolsNanoUsd;
    const runningCost = new RunningCost(asked, (nanoUsd, tokens) => this.#spend(nanoUsd, tokens));
    const refusal = forTools ?? runningCost.begin();
    if (!refusal) return runningCost;
    runningCost.end(null);
    throw refusal;
  }

  /** A request is sent upstream now. If the process dies, it must be charged. */
  sent(): void {
    this.#kept?.sent();
  }

  /**
   * Begins a further turn of the answer, which counts as a request. It is never refused, because half an answer is
   * useless; later requests wait instead.
   */
  beginTurn(): void {
    this.#turns += 1;
    if (this.#reservation) this.#limits.limiter.grow(this.#reservation, this.#spent());
    this.#note();
  }

  /** Refuses an endpoint without a price; another one may have a price. */
  #refuseUnpriced(): void {
    const estimate = this.#estimate && { ...this.#estimate, nanoUsd: null };
    const refusal = estimate && this.#limits.limiter.check(this.#scopes, estimate);
    if (refusal?.reason === 'unpriced')
      throw new GatewayError('quota', refusalText(refusal), { code: 'budget_exceeded', isHopeless: true });
  }

  /** Explains why the request would be refused, and the limits that apply. Reserves nothing. */
  explain(estimate: Estimate): {
    readonly refusal: GatewayError | null;
    readonly limitUsages: readonly LimitUsage[];
  } {
    const { limiter } = this.#limits;
    const refusal = limiter.check(this.#scopes, estimate);
    return {
      refusal: refusal && limitError(refusal, this.#now()),
      limitUsages: limiter.limitUsages(this.#scopes, estimate.model, estimate.endUser),
    };
  }

  /** Replaces the reservation by the actual usage in the ledger. Only the first call counts. */
  settle(spent: Spent): void {
    if (this.#reservation) this.#limits.limiter.settle(this.#reservation, spent);
    this.#kept?.close();
    this.#kept = null;
  }

  /** Remaining requests and tokens after this request. Null: its own usage is not estimated yet. */
  left(): LimitStates | null {
    const estimate = this.#estimate;
    if (!estimate) return null;
    const { limiter } = this.#limits;
    const tightest = (kind: 'requests' | 'tokens'): LimitStates['requests'] =>
      limiter.tightest(this.#scopes, kind, estimate);
    return { atMs: this.#now(), requests: tightest('requests'), tokens: tightest('tokens') };
  }

  /** @returns the error that ends the answer when a budget is exhausted */
  #spend(nanoUsd: number, tokens: number): GatewayError | null {
    this.#nanoUsd += nanoUsd;
    this.#tokens += tokens;
    this.#note();
    if (this.#nanoUsd <= this.#reservedNanoUsd || !this.#reservation) return null;
    const refusal = this.#limits.limiter.grow(this.#reservation, this.#spent());
    this.#reservedNanoUsd = leastReserved(this.#reservation);
    return refusal && limitError(refusal, this.#now());
  }

  #spent(): Spent {
    return { requests: this.#turns, tokens: this.#tokens, nanoUsd: this.#nanoUsd };
  }

  #note(): void {
    this.#kept?.note({
      requests: this.#turns,
      tokens: this.#tokens,
      nanoUsd: this.#nanoUsd,
      atMs: this.#now(),
    });
  }
}

/** Nano-USD covered without asking a budget again. Infinity: no budget applies. */
function leastReserved({ holds }: Reservation): number {
  let least = Infinity;
  for (const hold of holds) if (hold.limit.rule.kind === 'usd') least = Math.min(least, requiredAmount(hold));
  return least;
}
