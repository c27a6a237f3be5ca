// Use that limits grant to one request: reserved when it is admitted, compared with what it costs while it runs, and settled
// once by what it came to. Knows nothing of protocols, of endpoints or of who else runs.
import { GatewayError, type LimitStates } from '../canonical/index.ts';
import {
  countsAlike,
  type Estimate,
  enoughOf,
  LEAST,
  type Limits,
  refusalText,
  type Reservation,
  type Scope,
  type Spent,
  type Standing,
  type Tenant,
} from '../accounts/limits/index.ts';
import type { RunningEntry } from '../accounts/ports/index.ts';
import { limitError } from './limit-errors.ts';
import { admitOrAsk } from './admit-or-ask.ts';
import { type Asked, RunningCost } from './running-cost.ts';
import type { UnixMs } from '../base/units.ts';

export class RequestQuota {
  readonly #limits: Limits;
  readonly #scopes: readonly Scope[];
  readonly #now: () => UnixMs;
  #estimate: Estimate | undefined;
  #reservation: Reservation | undefined;
  /** Use of all attempts and tools so far. */
  #nanoUsd = 0;
  #tokens = 0;
  /** Turns that have begun. */
  #turns = 1;
  /** Entry in which that is kept; undefined as long as nobody was asked, null where it is not kept. */
  #kept: RunningEntry | null | undefined;
  /** Part of it that tools have cost. */
  #toolsNanoUsd = 0;
  /** Nano-dollars up to which no budget has to be asked. */
  #reservedNanoUsd = Infinity;

  private constructor(limits: Limits, scopes: readonly Scope[], now: () => UnixMs) {
    this.#limits = limits;
    this.#scopes = scopes;
    this.#now = now;
  }

  /** Null where nothing limits a tenant. */
  static of(limits: Limits, tenant: Tenant, now: () => UnixMs): RequestQuota | null {
    const scopes = limits.scopesOf(tenant);
    return scopes.length === 0 ? null : new RequestQuota(limits, scopes, now);
  }

  /**
   * Why a request is refused of which only this much is known.
   * @param model id of the catalog; empty where it has none for it
   * @param endUser hash of whom the request names
   * @returns null where somebody has to read the request to tell: because it might begin, or because a limit stands
   *   against it for longer that does not count every request alike
   */
  refuse({ model, endUser }: Pick<Estimate, 'model' | 'endUser'>): GatewayError | null {
    const estimate = { ...LEAST, model, endUser };
    const refusal = this.#limits.limiter.check(this.#scopes, estimate);
    if (!refusal || !countsAlike(refusal.limit.rule)) return null;
    this.#estimate = estimate;
    return limitError(refusal, this.#now());
  }

  /**
   * Lets the request begin, once. Other processes may have to be asked for room first.
   * @param expiresAtMs when it must have ended
   * @throws GatewayError 429 `rate_limit_exceeded` or 402 `budget_exceeded`, which names the limit; nothing is reserved
   */
  async admit(estimate: Estimate, expiresAtMs: UnixMs): Promise<void> {
    this.#estimate = estimate;
    const outcome = await admitOrAsk(this.#limits.limiter, this.#scopes, estimate, expiresAtMs);
    if (outcome.type === 'refusal') throw limitError(outcome, this.#now());
    this.#reservation = outcome;
    this.#reservedNanoUsd = leastReserved(outcome);
  }

  /** Counts a request whose answer is paid for already: nothing refuses it. Where a limit is used up, the ledger alone has it. */
  async admitPaid(
    { model, endUser }: Pick<Estimate, 'model' | 'endUser'>,
    expiresAtMs: UnixMs,
  ): Promise<void> {
    this.#estimate = { ...LEAST, model, endUser };
    const outcome = await admitOrAsk(this.#limits.limiter, this.#scopes, this.#estimate, expiresAtMs);
    if (outcome.type === 'reservation') this.#reservation = outcome;
  }

  /**
   * An endpoint is asked.
   * @param toolsNanoUsd what tools of the gateway have cost until now
   * @param keep begins to keep what the request costs, for the case that the process dies; called once, with the hash of
   *   its end user
   * @returns what follows its cost; null where no budget counts it
   * @throws GatewayError 402 `budget_exceeded` where there is no money left for what it will read, or nobody knows what
   *   it costs
   */
  begin(
    asked: Asked,
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

  /** An upstream is sent the request now: a process that dies has to be charged for it. */
  sent(): void {
    this.#kept?.sent();
  }

  /**
   * A further turn of the answer begins, and counts as a request. It is not refused for that: half an answer is of no use
   * to anybody, and whoever comes next waits.
   */
  beginTurn(): void {
    this.#turns += 1;
    if (this.#reservation) this.#limits.limiter.grow(this.#reservation, this.#spent());
    this.#note();
  }

  /** Somebody else may be asked, whose price is known. */
  #refuseUnpriced(): void {
    const estimate = this.#estimate && { ...this.#estimate, nanoUsd: null };
    const refusal = estimate && this.#limits.limiter.check(this.#scopes, estimate);
    if (refusal?.reason === 'unpriced')
      throw new GatewayError('quota', refusalText(refusal), { code: 'budget_exceeded', isHopeless: true });
  }

  /** Why the request would not begin now, and the limits that count it. Reserves nothing. */
  explain(estimate: Estimate): {
    readonly refusal: GatewayError | null;
    readonly standings: readonly Standing[];
  } {
    const { limiter } = this.#limits;
    const refusal = limiter.check(this.#scopes, estimate);
    return {
      refusal: refusal && limitError(refusal, this.#now()),
      standings: limiter.standings(this.#scopes, estimate.model, estimate.endUser),
    };
  }

  /** Replaces what is reserved by what the request came to, which is in the ledger. Only the first time counts. */
  settle(spent: Spent): void {
    if (this.#reservation) this.#limits.limiter.settle(this.#reservation, spent);
    this.#kept?.close();
    this.#kept = null;
  }

  /** Rest of limits of requests and tokens after this one; null before its own needs are known. */
  left(): LimitStates | null {
    const estimate = this.#estimate;
    if (!estimate) return null;
    const { limiter } = this.#limits;
    const tightest = (kind: 'requests' | 'tokens'): LimitStates['requests'] =>
      limiter.tightest(this.#scopes, kind, estimate);
    return { atMs: this.#now(), requests: tightest('requests'), tokens: tightest('tokens') };
  }

  /** @returns the error with which the answer must end, where a budget is used up by it */
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

/** Nano-dollars up to which no budget has to be asked; Infinity where no budget counts the request. */
function leastReserved({ holds }: Reservation): number {
  let least = Infinity;
  for (const hold of holds) if (hold.limit.rule.kind === 'usd') least = Math.min(least, enoughOf(hold));
  return least;
}
