// Admission and settlement: every limit that applies is checked and reserved before a request runs, grows while its
// answer streams, and is settled once by what happened. All of it is synchronous and in memory. Knows nothing of engines,
// prices or protocols.
import type { LimitState } from '../canonical/index.ts';
import { CounterMaker } from './counter-maker.ts';
import type { Counter } from './counter.ts';
import { EndUsers } from './end-users.ts';
import type { Refusal } from './refusal.ts';
import { Reservation, type Spent } from './reservation.ts';
import type { LimitEntry, LimitRule } from './rule.ts';
import { CounterBook, limitId, ownerWord, Scope, type Limit, type Owner } from './scope.ts';
import type { Window } from './window.ts';

/** What a request is expected to use. */
export interface Demand {
  readonly model: string;
  /** Hash of the end user; null: the request names none. */
  readonly endUser: string | null;
  /** Input, and the output that is expected. */
  readonly tokens: number;
  /** What that costs; null: the price is unknown. */
  readonly nanoUsd: number | null;
  /** What a budget must have left for the request to begin, where a running answer is stopped when it is spent. Default: `nanoUsd`. */
  readonly leastNanoUsd?: number | undefined;
}

/** How far a limit is used. */
export interface Standing {
  readonly limit: Limit;
  readonly used: number;
  readonly reserved: number;
  /** Never below 0. */
  readonly remaining: number;
  /** Unix milliseconds at which nothing of it will be used, if nothing else comes; null: never. */
  readonly clearsAtMs: number | null;
}

/** How often reservations that nobody settled are looked for. */
const SWEEP_MS = 10_000;

export class Limiter {
  readonly #now: () => number;
  readonly #maker = new CounterMaker();
  readonly #book = new CounterBook(this.#maker);
  readonly #endUsers: EndUsers;
  readonly #open = new Set<Reservation>();
  #sweepAt = 0;

  /** @param now Unix milliseconds @param mostEndUsers counters of end users that are kept in full */
  constructor({ now, mostEndUsers }: { readonly now: () => number; readonly mostEndUsers?: number }) {
    this.#now = now;
    this.#endUsers = new EndUsers(this.#maker, mostEndUsers);
  }

  /** Reservations that are not settled. */
  get open(): number {
    return this.#open.size;
  }

  /** The limits of an owner, for one snapshot of the configuration. What was counted for it before goes on counting. */
  scope(owner: Owner, entries: readonly LimitEntry[]): Scope {
    return new Scope(owner, entries, this.#book);
  }

  /** Forgets an owner that has no limits any more. */
  forget(owner: Pick<Owner, 'kind' | 'id'>): void {
    this.#book.forget(ownerWord(owner));
  }

  /** Forgets owners that the latest configuration has no more. */
  keep(owners: Iterable<Pick<Owner, 'kind' | 'id'>>): void {
    const words = new Set(Array.from(owners, ownerWord));
    this.#book.keep((word) => words.has(word));
  }

  /**
   * Reserves what a request is expected to use under every limit that applies, or nothing.
   * @param expiresAtMs when the request must have ended; then the reservation is settled by what was last said of it
   */
  admit(scopes: readonly Scope[], demand: Demand, expiresAtMs: number): Reservation | Refusal {
    const now = this.#now();
    if (now >= this.#sweepAt || now < this.#sweepAt - SWEEP_MS) this.#sweep(now);
    const refusal = this.#check(scopes, demand, now);
    if (refusal) return refusal;
    const reservation = new Reservation(expiresAtMs);
    for (const scope of scopes)
      for (const limit of scope.limitsOf(demand.model)) {
        const counter = this.counterOf(limit, demand.endUser);
        const amount = reservedOf(limit.rule, demand, limit.rule.amount - counter.used(now));
        reservation.hold({ limit, counter, slot: counter.reserve(amount, now), amount, charged: 0 });
      }
    this.#open.add(reservation);
    return reservation;
  }

  /** Why a request would be refused now; null where it would not. Reserves nothing. */
  check(scopes: readonly Scope[], demand: Demand): Refusal | null {
    return this.#check(scopes, demand, this.#now());
  }

  /**
   * Notes what a running request has used so far, and reserves more where that was not enough.
   * @returns the budget that it has used up: its answer must be stopped. Null: it may go on
   */
  grow(reservation: Reservation, spent: Spent): Refusal | null {
    if (reservation.isSettled) return null;
    reservation.spent = spent;
    // One that was past its time is looked after again.
    this.#open.add(reservation);
    let refusal: Refusal | null = null;
    for (const hold of reservation.holds) {
      const { counter, amount, limit } = hold;
      const { rule } = limit;
      const by = amountOf(rule, spent) - amount - hold.charged;
      if (by <= 0) continue;
      const now = this.#now();
      hold.slot = counter.grow(hold.slot, by, now);
      hold.amount += by;
      if (rule.kind === 'usd' && rule.stops && counter.usedIn(hold.slot, now) > rule.amount)
        refusal ??= refusalOf('budget', limit, counter, by, now);
    }
    return refusal;
  }

  /** Replaces what a request had reserved by what it came to. Does so once: what comes later changes nothing. */
  settle(reservation: Reservation, spent: Spent): void {
    if (reservation.isSettled) return;
    reservation.isSettled = true;
    this.#open.delete(reservation);
    this.#charge(reservation, spent);
  }

  /** How far each limit is used. Limits that each end user has are told for one of them. */
  standings(scopes: readonly Scope[], model: string | null, endUser: string | null): readonly Standing[] {
    const now = this.#now();
    return scopes
      .flatMap((scope) => (model === null ? scope.limits : scope.limitsOf(model)))
      .filter(({ counter }) => counter !== null || endUser !== null)
      .map((limit) => {
        const counter = this.counterOf(limit, endUser);
        const used = counter.used(now);
        const remaining = Math.max(0, limit.rule.amount - used);
        return { limit, used, reserved: counter.reserved, remaining, clearsAtMs: counter.clearsAt(now) };
      });
  }

  /** The limit of a kind of which the least is left for a model and an end user; null where there is none. */
  tightest(
    scopes: readonly Scope[],
    kind: LimitRule['kind'],
    { model, endUser }: Pick<Demand, 'model' | 'endUser'>,
  ): LimitState | null {
    const now = this.#now();
    let found: Limit | null = null;
    let least = Infinity;
    for (const scope of scopes)
      for (const limit of scope.limitsOf(model)) {
        if (limit.rule.kind !== kind) continue;
        const left = limit.rule.amount - this.counterOf(limit, endUser).used(now);
        if (left >= least) continue;
        least = left;
        found = limit;
      }
    if (!found) return null;
    const clearsAtMs = this.counterOf(found, endUser).clearsAt(now);
    return { amount: found.rule.amount, remaining: Math.max(0, least), clearsAtMs };
  }

  /**
   * Takes somebody else's word for what remains of a limit, such as a vendor's own headers: of those that are as large as
   * theirs, which are taken to be the same. Only downwards: what runs just now is not in their count yet.
   */
  correct(
    scope: Scope,
    model: string,
    { kind, amount }: Pick<LimitRule, 'kind' | 'amount'>,
    remaining: number,
  ): void {
    const now = this.#now();
    for (const { rule, counter } of scope.limitsOf(model)) {
      if (rule.kind !== kind || rule.amount !== amount || !counter) continue;
      const unseen = rule.amount - remaining - counter.used(now);
      if (unseen > 0) counter.restore(unseen, now, now);
    }
  }

  /** The counter of a limit, of one end user where each has one. */
  counterOf(limit: Limit, endUser: string | null): Counter {
    return limit.counter ?? this.#endUsers.counterOf(limitId(limit), limit.rule, endUser ?? '', this.#now());
  }

  /** Unix milliseconds at which the calendar period of a time began; 0 where a window has no periods. */
  periodStart(window: Window, atMs: number): number {
    return this.#maker.calendarOf(window)?.startOf(atMs) ?? 0;
  }

  /** Of several reasons the one that lasts longest: who comes back when it is over is not refused by the next. */
  #check(scopes: readonly Scope[], demand: Demand, now: number): Refusal | null {
    let refusal: Refusal | null = null;
    for (const scope of scopes)
      for (const limit of scope.limitsOf(demand.model)) {
        const counter = this.counterOf(limit, demand.endUser);
        const found = checkOne(limit, counter, demand, now);
        if (found && (!refusal || lasts(found) > lasts(refusal))) refusal = found;
      }
    return refusal;
  }

  #charge(reservation: Reservation, spent: Spent | null): void {
    const now = this.#now();
    for (const hold of reservation.holds) {
      const actual = finalOf(hold.limit.rule, spent, hold.amount + hold.charged);
      hold.counter.settle(hold.slot, hold.amount, actual - hold.charged, now);
      hold.amount = 0;
      hold.charged = actual;
    }
  }

  /** Charges reservations that are past their time with what was last said of them; a later settlement corrects that. */
  #sweep(now: number): void {
    this.#sweepAt = now + SWEEP_MS;
    for (const reservation of this.#open) {
      if (reservation.expiresAtMs > now) continue;
      this.#open.delete(reservation);
      this.#charge(reservation, reservation.spent);
    }
  }
}

function checkOne(limit: Limit, counter: Counter, demand: Demand, now: number): Refusal | null {
  const { rule } = limit;
  if (rule.kind === 'usd' && demand.nanoUsd === null)
    return rule.allowsUnpriced ? null : refusalOf('unpriced', limit, counter, 0, now);
  const needed = neededOf(rule, demand);
  if (needed === 0 || counter.used(now) + needed <= rule.amount) return null;
  return refusalOf(rule.kind === 'usd' ? 'budget' : 'rate', limit, counter, needed, now);
}

function refusalOf(
  reason: Refusal['reason'],
  limit: Limit,
  counter: Counter,
  needed: number,
  now: number,
): Refusal {
  const frees = reason === 'unpriced' ? 'never' : counter.freesAt(needed, limit.rule.amount, now);
  return {
    type: 'refusal',
    reason,
    limit,
    needed,
    used: counter.used(now),
    reserved: counter.reserved,
    frees,
  };
}

function lasts({ frees }: Refusal): number {
  if (frees === 'settled') return 0;
  return frees === 'never' ? Infinity : frees;
}

/** What must be left of a limit for a request to begin. */
function neededOf(rule: LimitRule, demand: Demand): number {
  switch (rule.kind) {
    case 'requests':
    case 'concurrent':
      return 1;
    case 'tokens':
      // One that is larger than the whole limit waits until nothing of it is used: it could never run otherwise.
      return Math.min(demand.tokens, rule.amount);
    case 'usd':
      if (rule.stops) return demand.leastNanoUsd ?? demand.nanoUsd ?? 0;
      return Math.min(demand.nanoUsd ?? 0, rule.amount);
  }
}

/** What is reserved: of a budget that stops answers no more than is left. */
function reservedOf(rule: LimitRule, demand: Demand, left: number): number {
  if (rule.kind === 'tokens') return demand.tokens;
  if (rule.kind !== 'usd') return 1;
  const expected = demand.nanoUsd ?? 0;
  return rule.stops ? Math.min(expected, Math.max(left, neededOf(rule, demand))) : expected;
}

/** What a running request has used of a limit so far. */
function amountOf(rule: LimitRule, spent: Spent): number {
  switch (rule.kind) {
    case 'requests':
      return spent.requests;
    case 'tokens':
      return spent.tokens;
    case 'concurrent':
      return 1;
    case 'usd':
      return spent.nanoUsd ?? 0;
  }
}

/** What a request that ended has used of a limit. */
function finalOf(rule: LimitRule, spent: Spent | null, held: number): number {
  if (rule.kind === 'concurrent') return 0;
  // What nobody can say is not nothing: the estimate stays, unless such requests are to pass uncounted.
  if (!spent) return held;
  if (rule.kind === 'usd' && spent.nanoUsd === null) return rule.allowsUnpriced ? 0 : held;
  return amountOf(rule, spent);
}
