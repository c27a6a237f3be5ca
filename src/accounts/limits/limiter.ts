// Admission and settlement: every limit that applies is checked and reserved before a request runs, grows while its
// answer streams, and is settled once by what happened. All of it is in memory; where processes share limits, what is reserved
// has to be granted. Knows nothing of engines, prices or protocols.
import { Roster } from '../../base/lib/roster.ts';
import type { LimitState } from '../../canonical/index.ts';
import { amountOf, type Estimate, finalOf, neededOf, reservedOf } from './amounts.ts';
import { checkOne, LEAST, refusalOf, refusedByOthers } from './check.ts';
import { CounterMaker } from './counter-maker.ts';
import type { Counter } from './counter.ts';
import { EndUsers } from './end-users.ts';
import { lasts, type Refusal } from './refusal.ts';
import { count, enoughOf, type Hold, Reservation, type Spent } from './reservation.ts';
import { LimiterTime } from './limiter-time.ts';
import type { LimitEntry, LimitRule } from './rule.ts';
import { CounterBook, limitId, ownerWord, Scope, type Limit, type Owner } from './scope.ts';
import type { Asked, Shared, Sharing } from './sharing.ts';
import type { UnreadLimits } from './unread-limits.ts';
import type { Window } from './window.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Use of a limit. */
export interface Standing {
  readonly limit: Limit;
  readonly used: number;
  readonly reserved: number;
  /** Never below 0. */
  readonly remaining: number;
  /** Unix milliseconds at which nothing of it will be used, if nothing else comes; null: never. */
  readonly clearsAtMs: UnixMs | null;
}

export interface LimiterOptions {
  /** Milliseconds that only go forward, near Unix time: windows roll by them. */
  readonly now: () => UnixMs;
  /** Unix milliseconds by the machine's clock, for calendar periods and for what is shown; absent: `now`. */
  readonly wall?: (() => UnixMs) | undefined;
  /** Counters of end users that are kept in full. */
  readonly mostEndUsers?: number | undefined;
  /** Shares limits among processes; absent: nobody does. */
  readonly sharing?: Sharing | null | undefined;
}

/** Time between two looks for reservations that nobody settled. */
const SWEEP_MS = 10_000;
export class Limiter {
  readonly #time: LimiterTime;
  readonly #maker: CounterMaker;
  readonly #book: CounterBook;
  readonly #endUsers: EndUsers;
  /** Null where nobody else counts the same: every limit is this process's alone. */
  readonly #sharing: Sharing | null;
  readonly #open = new Roster<Reservation>();
  /** Null once the ledger has told everything. */
  #unread: UnreadLimits | null = null;
  #sweepAt = 0;

  constructor({ now, wall, mostEndUsers, sharing = null }: LimiterOptions) {
    this.#time = new LimiterTime(now, wall);
    this.#maker = new CounterMaker(this.#time, sharing !== null);
    this.#book = new CounterBook(this.#maker);
    this.#sharing = sharing;
    this.#endUsers = new EndUsers(this.#maker, { most: mostEndUsers, isShared: sharing !== null });
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
   * Reserves what a request is expected to use under every limit that applies, or nothing. Other processes have their say.
   * @param untilMs when the request must have ended; then the reservation is settled by what was last said of it
   */
  async take(scopes: readonly Scope[], estimate: Estimate, untilMs: UnixMs): Promise<Reservation | Refusal> {
    const outcome = this.admit(scopes, estimate, untilMs);
    const sharing = this.#sharing;
    if (!sharing || outcome.type === 'refusal' || outcome.holds.length === 0) return outcome;
    const { holds } = outcome;
    const asked = holds.map(({ limit: { rule }, counter, slot, amount }): Asked => {
      const clips = rule.kind === 'usd' && rule.stops;
      return { counter, slot, need: neededOf(rule, estimate), want: amount, clips };
    });
    return new Promise((resolve) => {
      sharing.take(asked, false, (granted) => {
        for (const [at, hold] of holds.entries()) this.#keep(hold, hold.amount, granted?.[at] ?? 0);
        if (granted) return resolve(outcome);
        outcome.isSettled = true;
        this.#drop(outcome);
        const now = this.#time.now();
        const refusal = this.#check(scopes, estimate, now, false) ?? refusedByOthers(holds, estimate, now);
        resolve(this.#shown(refusal));
      });
    });
  }

  /**
   * The same in this process alone, at once.
   * @param untilMs when the request must have ended
   */
  admit(scopes: readonly Scope[], estimate: Estimate, expiresAtMs: UnixMs): Reservation | Refusal {
    const now = this.#time.now();
    if (now >= this.#sweepAt || now < this.#sweepAt - SWEEP_MS) this.#sweep(now);
    const refusal = this.#check(scopes, estimate, now, true);
    if (refusal) return this.#shown(refusal);
    const unread = this.#unread && this.#firstUnread(scopes, estimate.model);
    if (unread) {
      const counting = { limit: unread, counter: this.counterOf(unread, estimate.endUser), shared: null };
      return this.#shown(refusalOf('unread', counting, 0, now));
    }
    const reservation = new Reservation(expiresAtMs);
    for (const scope of scopes)
      for (const limit of scope.limitsOf(estimate.model)) {
        const counter = this.counterOf(limit, estimate.endUser);
        const shared = this.#sharedOf(limit, counter, estimate.endUser);
        const amount = reservedOf(limit.rule, estimate, limit.rule.amount - counter.used(now));
        const slot = counter.reserve(amount, now);
        // A whole answer cannot be stopped: it asks for more only where it has used more.
        const step = estimate.leastNanoUsd === undefined ? 0 : Math.max(1, amount);
        const hold = { limit, counter, shared, slot, amount, granted: amount, step, recall: null };
        reservation.hold({ ...hold, charged: 0, lapsed: 0, isRefused: false });
      }
    reservation.place = this.#open.add(reservation);
    return reservation;
  }

  /** Says which limits nobody may begin under yet; null: under all. */
  awaitLedger(unread: UnreadLimits | null): void {
    this.#unread = unread;
  }

  /** Resolves when the ledger has told more of what a refused request needs; null where it has told everything. */
  unread(scopes: readonly Scope[], estimate: Estimate): Promise<void> | null {
    return this.#unread && this.#firstUnread(scopes, estimate.model) ? this.#unread.wait() : null;
  }

  /**
   * Whether a limit has no room that counts every request alike, whatever it asks for and on whose behalf: whoever knows
   * that need not read the request. Reserves nothing.
   */
  isFull(scopes: readonly Scope[]): boolean {
    const now = this.#time.now();
    return scopes.some(({ limitsOfAll }) => this.#refusesLeast(limitsOfAll, now));
  }

  /** Whether a budget is spent, so that only what costs nothing can begin, or what has no price. Reserves nothing. */
  isSpent(scopes: readonly Scope[]): boolean {
    const now = this.#time.now();
    return scopes.some(({ budgetsOfAll }) => this.#refusesLeast(budgetsOfAll, now));
  }

  /** Why a request would be refused now; null where it would not, or may get what it needs. Reserves nothing. */
  check(scopes: readonly Scope[], estimate: Estimate): Refusal | null {
    const refusal = this.#check(scopes, estimate, this.#time.now(), true);
    return refusal && this.#shown(refusal);
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
      const { counter, amount, limit, shared } = hold;
      const { rule } = limit;
      const used = amountOf(rule, spent);
      const by = used - amount - hold.charged;
      const now = this.#time.now();
      if (by > 0) {
        count(hold, by, now);
        if (shared) this.#sharing?.report(counter, hold.slot);
      }
      if (rule.kind !== 'usd' || !rule.stops) continue;
      const isOver = shared
        ? this.#isRefusedMore(hold, shared, used)
        : by > 0 && counter.usedIn(hold.slot, now) > rule.amount;
      if (isOver) refusal ??= refusalOf('budget', hold, Math.max(0, by), now);
    }
    return refusal && this.#shown(refusal);
  }

  /**
   * Asks others for a further step of a running answer, which goes on meanwhile.
   * @returns whether it has used up all that it may
   */
  #isRefusedMore(hold: Hold, shared: Shared, used: number): boolean {
    const sharing = this.#sharing;
    if (used > hold.granted && hold.isRefused) return true;
    if (!sharing || hold.recall || used <= enoughOf(hold)) return false;
    const now = this.#time.now();
    if (!shared.mayHave(1) && hold.counter.usedIn(hold.slot, now) + 1 > shared.room())
      return used > hold.granted;
    hold.step = Math.max(hold.step, Math.ceil(used / 4));
    // Use beyond the granted amount is counted already.
    const asks = Math.max(1, hold.granted + hold.step - Math.max(used, hold.granted));
    count(hold, asks, now);
    hold.recall = () => {};
    const { counter, slot } = hold;
    const recall = sharing.take([{ counter, slot, need: 1, want: asks, clips: true }], true, (granted) => {
      hold.recall = null;
      hold.isRefused = granted === null;
      const [amount = 0] = granted ?? [];
      this.#keep(hold, asks, amount);
      if (granted) hold.granted = Math.max(hold.granted, hold.amount + hold.charged);
    });
    if (hold.recall) hold.recall = recall;
    return false;
  }

  /** Replaces what a request had reserved by what it came to. Does so once: what comes later changes nothing. */
  settle(reservation: Reservation, spent: Spent): void {
    if (reservation.isSettled) return;
    reservation.isSettled = true;
    this.#drop(reservation);
    this.#charge(reservation, spent);
  }

  /** Use of each limit. Limits that each end user has are told for one of them. */
  standings(scopes: readonly Scope[], model: string | null, endUser: string | null): readonly Standing[] {
    const now = this.#time.now();
    return scopes
      .flatMap((scope) => (model === null ? scope.limits : scope.limitsOf(model)))
      .filter(({ counter }) => counter !== null || endUser !== null)
      .map((limit) => {
        const counter = this.counterOf(limit, endUser);
        const used = counter.used(now) + this.#othersOf(counter);
        const remaining = Math.max(0, limit.rule.amount - used);
        return {
          limit,
          used,
          reserved: counter.reserved,
          remaining,
          clearsAtMs: this.#time.shown(counter.clearsAt(now)),
        };
      });
  }

  /** The limit of a kind of which the least is left for a model and an end user; null where there is none. */
  tightest(
    scopes: readonly Scope[],
    kind: LimitRule['kind'],
    { model, endUser }: Pick<Estimate, 'model' | 'endUser'>,
  ): LimitState | null {
    const now = this.#time.now();
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
    const clearsAtMs = this.#time.shown(this.counterOf(found, endUser).clearsAt(now));
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
    const now = this.#time.now();
    for (const limit of scope.limitsOf(model)) {
      const { rule, counter } = limit;
      if (rule.kind !== kind || rule.amount !== amount || !counter) continue;
      const unseen = rule.amount - remaining - this.#othersOf(counter) - counter.used(now);
      const slot = unseen > 0 ? counter.restore(unseen, now, now) : null;
      if (slot) this.#sharing?.report(counter, slot);
    }
  }

  /** The counter of a limit, of one end user where each has one. */
  counterOf(limit: Limit, endUser: string | null): Counter {
    return (
      limit.counter ?? this.#endUsers.counterOf(limitId(limit), limit.rule, endUser ?? '', this.#time.now())
    );
  }

  /** Milliseconds by which the machine's clock was set: from the limiter's time to Unix milliseconds. */
  get stepMs(): DurationMs {
    this.#time.now();
    return this.#time.ms;
  }

  /**
   * Unix milliseconds at which the calendar period of a time began; 0 where a window has no periods.
   * @param atMs a time that only goes forward
   */
  periodStart(window: Window, atMs: UnixMs): UnixMs {
    return this.#maker.calendarOf(window)?.startOf(atMs) ?? 0;
  }

  /** The same with Unix milliseconds. */
  #shown(refusal: Refusal): Refusal {
    return this.#time.ms === 0 ? refusal : { ...refusal, frees: this.#time.shown(refusal.frees) };
  }

  /** Finds the refusal that lasts longest: a client that returns after it is not refused by the next. */
  #check(scopes: readonly Scope[], estimate: Estimate, now: UnixMs, mayAsk: boolean): Refusal | null {
    let refusal: Refusal | null = null;
    for (const scope of scopes)
      for (const limit of scope.limitsOf(estimate.model)) {
        const counter = this.counterOf(limit, estimate.endUser);
        const shared = this.#sharedOf(limit, counter, estimate.endUser);
        const found = checkOne({ limit, counter, shared }, estimate, now, mayAsk);
        if (found && (!refusal || lasts(found) > lasts(refusal))) refusal = found;
      }
    return refusal;
  }

  #refusesLeast(limits: readonly Limit[], now: UnixMs): boolean {
    return limits.some((limit) => {
      const counter = this.counterOf(limit, null);
      const shared = this.#sharedOf(limit, counter, null);
      return checkOne({ limit, counter, shared }, LEAST, now, true) !== null;
    });
  }

  #firstUnread(scopes: readonly Scope[], model: string): Limit | null {
    for (const scope of scopes)
      for (const limit of scope.limitsOf(model)) if (this.#unread?.has(limit)) return limit;
    return null;
  }

  #sharedOf(limit: Limit, counter: Counter, endUser: string | null): Shared | null {
    return this.#sharing && this.#sharing.of(limit, counter, endUser);
  }

  /** Amount of a counter that other processes use. */
  #othersOf(counter: Counter): number {
    return this.#sharing?.known(counter)?.others ?? 0;
  }

  /** Gives back what was reserved and is not granted: others have not counted it. */
  #keep(hold: Hold, reserved: number, granted: number): void {
    hold.counter.settle(hold.slot, reserved - granted, 0, this.#time.now());
    hold.amount -= reserved - granted;
    hold.granted = Math.min(hold.granted, hold.amount + hold.charged);
  }

  #charge(reservation: Reservation, spent: Spent | null): void {
    const now = this.#time.now();
    for (const hold of reservation.holds) {
      const actual = finalOf(hold.limit.rule, spent, hold.amount + hold.charged);
      const counted = Math.max(actual, hold.lapsed);
      hold.recall?.();
      hold.recall = null;
      hold.counter.settle(hold.slot, hold.amount, counted - hold.charged, now);
      hold.amount = 0;
      hold.charged = counted;
      if (hold.shared) this.#sharing?.report(hold.counter, hold.slot);
    }
  }

  #drop(reservation: Reservation): void {
    if (reservation.place !== null) this.#open.remove(reservation, reservation.place);
    reservation.place = null;
  }

  /** Charges reservations that are past their time with what was last said of them; a later settlement corrects that. */
  #sweep(now: UnixMs): void {
    this.#sweepAt = now + SWEEP_MS;
    for (const reservation of this.#open) {
      if (reservation.expiresAtMs > now) continue;
      this.#drop(reservation);
      this.#charge(reservation, reservation.spent);
    }
  }
}
