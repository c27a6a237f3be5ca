// Admission and settlement: every limit that applies is checked and reserved before a request runs, grows while its
// answer streams, and is settled once by what happened. All of it is synchronous and in memory. Knows nothing of engines,
// prices or protocols.
import { Roster } from '../lib/roster.ts';
import type { LimitState } from '../canonical/index.ts';
import { amountOf, type Demand, finalOf, neededOf, reservedOf } from './amounts.ts';
import type { Ceiling, Ceilings } from './ceiling.ts';
import { CounterMaker } from './counter-maker.ts';
import type { Counter } from './counter.ts';
import { EndUsers } from './end-users.ts';
import type { Refusal } from './refusal.ts';
import { type Hold, Reservation, type Spent } from './reservation.ts';
import type { LimitEntry, LimitRule } from './rule.ts';
import { CounterBook, limitId, ownerWord, Scope, type Limit, type Owner } from './scope.ts';
import type { UnreadLimits } from './unread-limits.ts';
import type { Window } from './window.ts';

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

export interface LimiterOptions {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Counters of end users that are kept in full. */
  readonly mostEndUsers?: number | undefined;
  /** Shares limits among processes; absent: nobody does. */
  readonly ceilings?: Ceilings | null | undefined;
}

/** A request of which nothing is known. */
export const LEAST: Demand = { model: '', endUser: null, tokens: 1, nanoUsd: 1 };

/** How often reservations that nobody settled are looked for. */
const SWEEP_MS = 10_000;
/** When somebody may try again who is refused for what other processes use, or the ledger has not told, in milliseconds. */
const AGAIN_MS = 1000;

export class Limiter {
  readonly #now: () => number;
  readonly #maker = new CounterMaker();
  readonly #book = new CounterBook(this.#maker);
  readonly #endUsers: EndUsers;
  /** Null where nobody else counts the same: every limit is this process's alone. */
  readonly #ceilings: Ceilings | null;
  readonly #open = new Roster<Reservation>();
  /** Null once the ledger has told everything. */
  #unread: UnreadLimits | null = null;
  #sweepAt = 0;

  constructor({ now, mostEndUsers, ceilings = null }: LimiterOptions) {
    this.#now = now;
    this.#ceilings = ceilings;
    this.#endUsers = new EndUsers(this.#maker, {
      most: mostEndUsers,
      // What is shared out is remembered where that is done.
      drop: ceilings && ((counter) => ceilings.drop(counter)),
    });
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
    const refusal = this.#check(scopes, demand, now, false);
    if (refusal) return refusal;
    const unread = this.#unread && this.#firstUnread(scopes, demand.model);
    if (unread)
      return refusalOf(
        'unread',
        { limit: unread, counter: this.counterOf(unread, demand.endUser), ceiling: null },
        0,
        now,
      );
    const reservation = new Reservation(expiresAtMs);
    for (const scope of scopes)
      for (const limit of scope.limitsOf(demand.model)) {
        const counter = this.counterOf(limit, demand.endUser);
        const ceiling = this.#ceilingOf(limit, counter, demand.endUser);
        const room = ceiling ? ceiling.room(now) : limit.rule.amount;
        const amount = reservedOf(limit.rule, demand, room - counter.used(now));
        const slot = counter.reserve(amount, now);
        reservation.hold({ limit, counter, ceiling, slot, amount, charged: 0, lapsed: 0 });
        ceiling?.took(amount);
      }
    reservation.place = this.#open.add(reservation);
    return reservation;
  }

  /** Says which limits nobody may begin under yet; null: under all. */
  awaitLedger(unread: UnreadLimits | null): void {
    this.#unread = unread;
  }

  /**
   * Asks for what a refused request lacks, where other processes may have it, or the ledger has not told yet.
   * @returns resolves when it is worth trying again; null where it is not
   */
  obtain(scopes: readonly Scope[], demand: Demand): Promise<void> | null {
    if (this.#unread && this.#firstUnread(scopes, demand.model)) return this.#unread.wait();
    const ceilings = this.#ceilings;
    if (!ceilings) return null;
    const now = this.#now();
    let isAsked = false;
    for (const scope of scopes)
      for (const limit of scope.limitsOf(demand.model)) {
        const counter = this.counterOf(limit, demand.endUser);
        const ceiling = ceilings.of(limit, counter, demand.endUser);
        const needed = neededOf(limit.rule, demand);
        if (needed === 0 || counter.used(now) + needed <= ceiling.room(now)) continue;
        if (!ceiling.lacks(needed, now)) return null;
        isAsked = true;
      }
    return isAsked ? ceilings.answered() : null;
  }

  /**
   * Whether a limit has no room that counts every request alike, whatever it asks for and on whose behalf: whoever knows
   * that need not read the request. Reserves nothing.
   */
  isFull(scopes: readonly Scope[]): boolean {
    const now = this.#now();
    return scopes.some(({ limitsOfAll }) => this.#refusesLeast(limitsOfAll, now));
  }

  /** Whether a budget is spent, so that only what costs nothing can begin, or what has no price. Reserves nothing. */
  isSpent(scopes: readonly Scope[]): boolean {
    const now = this.#now();
    return scopes.some(({ budgetsOfAll }) => this.#refusesLeast(budgetsOfAll, now));
  }

  /** Why a request would be refused now; null where it would not, or may get what it needs. Reserves nothing. */
  check(scopes: readonly Scope[], demand: Demand): Refusal | null {
    return this.#check(scopes, demand, this.#now(), true);
  }

  /**
   * Notes what a running request has used so far, and reserves more where that was not enough.
   * @returns the budget that it has used up: its answer must be stopped. Null: it may go on
   */
  grow(reservation: Reservation, spent: Spent): Refusal | null {
    if (reservation.isSettled) return null;
    reservation.spent = spent;
    // One that was past its time is looked after again.
    reservation.place ??= this.#open.add(reservation);
    let refusal: Refusal | null = null;
    for (const hold of reservation.holds) {
      const { counter, amount, limit, ceiling } = hold;
      const { rule } = limit;
      const by = amountOf(rule, spent) - amount - hold.charged;
      if (by <= 0) continue;
      const now = this.#now();
      const slot = counter.grow(hold.slot, by, now);
      if (slot !== hold.slot) hold.lapsed = amount + hold.charged;
      hold.slot = slot;
      hold.amount += by;
      ceiling?.took(by);
      if (rule.kind === 'usd' && rule.stops && isOverspent(hold, by, now))
        refusal ??= refusalOf('budget', { limit, counter, ceiling }, by, now);
    }
    return refusal;
  }

  /** Replaces what a request had reserved by what it came to. Does so once: what comes later changes nothing. */
  settle(reservation: Reservation, spent: Spent): void {
    if (reservation.isSettled) return;
    reservation.isSettled = true;
    this.#drop(reservation);
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
        const used = counter.used(now) + this.#othersOf(counter);
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
        const counter = this.counterOf(limit, endUser);
        const left = limit.rule.amount - this.#othersOf(counter) - counter.used(now);
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
    for (const limit of scope.limitsOf(model)) {
      const { rule, counter } = limit;
      if (rule.kind !== kind || rule.amount !== amount || !counter) continue;
      const unseen = rule.amount - remaining - this.#othersOf(counter) - counter.used(now);
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
  #check(scopes: readonly Scope[], demand: Demand, now: number, mayAsk: boolean): Refusal | null {
    let refusal: Refusal | null = null;
    for (const scope of scopes)
      for (const limit of scope.limitsOf(demand.model)) {
        const counter = this.counterOf(limit, demand.endUser);
        const ceiling = this.#ceilingOf(limit, counter, demand.endUser);
        const found = checkOne({ limit, counter, ceiling }, demand, now, mayAsk);
        if (found && (!refusal || lasts(found) > lasts(refusal))) refusal = found;
      }
    return refusal;
  }

  #refusesLeast(limits: readonly Limit[], now: number): boolean {
    return limits.some((limit) => {
      const counter = this.counterOf(limit, null);
      const ceiling = this.#ceilingOf(limit, counter, null);
      return checkOne({ limit, counter, ceiling }, LEAST, now, true) !== null;
    });
  }

  #firstUnread(scopes: readonly Scope[], model: string): Limit | null {
    for (const scope of scopes)
      for (const limit of scope.limitsOf(model)) if (this.#unread?.has(limit)) return limit;
    return null;
  }

  #ceilingOf(limit: Limit, counter: Counter, endUser: string | null): Ceiling | null {
    return this.#ceilings && this.#ceilings.of(limit, counter, endUser);
  }

  /** What other processes use, or may use, of what a counter counts. */
  #othersOf(counter: Counter): number {
    return this.#ceilings?.known(counter)?.others ?? 0;
  }

  #charge(reservation: Reservation, spent: Spent | null): void {
    const now = this.#now();
    for (const hold of reservation.holds) {
      const actual = finalOf(hold.limit.rule, spent, hold.amount + hold.charged);
      const counted = Math.max(actual, hold.lapsed);
      hold.counter.settle(hold.slot, hold.amount, counted - hold.charged, now);
      hold.amount = 0;
      hold.charged = counted;
    }
  }

  #drop(reservation: Reservation): void {
    if (reservation.place !== null) this.#open.remove(reservation, reservation.place);
    reservation.place = null;
  }

  /** Charges reservations that are past their time with what was last said of them; a later settlement corrects that. */
  #sweep(now: number): void {
    this.#sweepAt = now + SWEEP_MS;
    for (const reservation of this.#open) {
      if (reservation.expiresAtMs > now) continue;
      this.#drop(reservation);
      this.#charge(reservation, reservation.spent);
    }
  }
}

type Counting = Pick<Hold, 'limit' | 'counter' | 'ceiling'>;

/** @param mayAsk whether what other processes may have counts as there */
function checkOne(counting: Counting, demand: Demand, now: number, mayAsk: boolean): Refusal | null {
  const { limit, counter, ceiling } = counting;
  const { rule } = limit;
  if (rule.kind === 'usd' && demand.nanoUsd === null)
    return rule.allowsUnpriced ? null : refusalOf('unpriced', counting, 0, now);
  const needed = neededOf(rule, demand);
  const room = ceiling && !(mayAsk && ceiling.mayHaveMore()) ? ceiling.room(now) : rule.amount;
  if (needed === 0 || counter.used(now) + needed <= room) return null;
  return refusalOf(rule.kind === 'usd' ? 'budget' : 'rate', counting, needed, now);
}

/** Whether a running answer has used more of a budget than there is. */
function isOverspent({ limit, counter, ceiling, slot }: Hold, by: number, now: number): boolean {
  const used = counter.usedIn(slot, now);
  if (!ceiling) return used > limit.rule.amount;
  const period = counter.periodOf(slot);
  return used > ceiling.room(now, period) && !ceiling.lacks(by, now, period);
}

function refusalOf(
  reason: Refusal['reason'],
  { limit, counter, ceiling }: Counting,
  needed: number,
  now: number,
): Refusal {
  const others = ceiling?.others ?? 0;
  // What others use comes free when nobody here knows: whoever is refused is told when it would at the latest.
  const limitHere = ceiling ? Math.max(needed, limit.rule.amount - others) : limit.rule.amount;
  const frees = reason === 'unpriced' ? 'never' : counter.freesAt(needed, limitHere, now);
  const isSoon = reason === 'unread' || (frees === now && ceiling !== null);
  return {
    type: 'refusal',
    reason,
    limit,
    needed,
    used: counter.used(now) + others,
    reserved: counter.reserved,
    frees: isSoon ? now + AGAIN_MS : frees,
  };
}

function lasts({ frees }: Refusal): number {
  if (frees === 'settled') return 0;
  return frees === 'never' ? Infinity : frees;
}
