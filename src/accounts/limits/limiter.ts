// Admission and settlement of requests. All limits that apply are checked and reserved before a request runs. Reservations
// grow while the answer streams, and are settled once by the actual usage. Counters are in memory; if processes share
// limits, the shared store must grant each reservation.
import { Roster } from '../../base/lib/roster.ts';
import type { LimitState } from '../../canonical/index.ts';
import { amountOf, type Estimate, finalOf, neededOf, reservedOf } from './amounts.ts';
import { checkOne, LEAST, refusalOf, refusedByOthers } from './check.ts';
import { CounterMaker } from './counter-maker.ts';
import type { Counter } from './counter.ts';
import { EndUsers } from './end-users.ts';
import { lasts, type Refusal } from './refusal.ts';
import { count, requiredAmount, type LimitReservation, Reservation, type Spent } from './reservation.ts';
import { LimiterTime } from './limiter-time.ts';
import type { LimitEntry, LimitRule } from './rule.ts';
import { CounterBook, limitId, ownerWord, Scope, type Limit, type Owner } from './scope.ts';
import type { GrantRequest, Shared, Sharing } from './sharing.ts';
import type { UnreadLimits } from './unread-limits.ts';
import type { Window } from './window.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Current usage of a limit. */
export interface LimitUsage {
  readonly limit: Limit;
  readonly used: number;
  readonly reserved: number;
  /** Never below 0. */
  readonly remaining: number;
  /** Unix milliseconds at which the usage is 0, without further requests; null: never. */
  readonly clearsAtMs: UnixMs | null;
}

export interface LimiterOptions {
  /** Monotonic milliseconds, close to Unix time, for rolling windows. */
  readonly now: () => UnixMs;
  /** Unix milliseconds by the machine's clock, for calendar periods and shown times; absent: `now`. */
  readonly wall?: (() => UnixMs) | undefined;
  /** Number of exact counters of end users. */
  readonly mostEndUsers?: number | undefined;
  /** Shares limits between processes; absent: there is one process. */
  readonly sharing?: Sharing | null | undefined;
}

/** Milliseconds between two sweeps for expired reservations. */
const SWEEP_MS = 10_000;
export class Limiter {
  readonly #time: LimiterTime;
  readonly #maker: CounterMaker;
  readonly #book: CounterBook;
  readonly #endUsers: EndUsers;
  /** Null: no other process shares these limits. */
  readonly #sharing: Sharing | null;
  readonly #open = new Roster<Reservation>();
  /** Limits not yet read from the ledger; null: all are read. */
  #unread: UnreadLimits | null = null;
  #sweepAt = 0;

  constructor({ now, wall, mostEndUsers, sharing = null }: LimiterOptions) {
    this.#time = new LimiterTime(now, wall);
    this.#maker = new CounterMaker(this.#time, sharing !== null);
    this.#book = new CounterBook(this.#maker);
    this.#sharing = sharing;
    this.#endUsers = new EndUsers(this.#maker, { most: mostEndUsers, isShared: sharing !== null });
  }

  /** Number of unsettled reservations. */
  get open(): number {
    return this.#open.size;
  }

  /** Limits of an owner, for one snapshot of the configuration. Existing counters of the owner are kept. */
  scope(owner: Owner, entries: readonly LimitEntry[]): Scope {
    return new Scope(owner, entries, this.#book);
  }

  /** Forgets an owner without limits. */
  forget(owner: Pick<Owner, 'kind' | 'id'>): void {
    this.#book.forget(ownerWord(owner));
  }

  /** Forgets all owners but these. */
  keep(owners: Iterable<Pick<Owner, 'kind' | 'id'>>): void {
    const words = new Set(Array.from(owners, ownerWord));
    this.#book.keep((word) => words.has(word));
  }

  /**
   * Reserves the estimated usage of a request in all limits that apply, or in none. Waits for the shared store, if any.
   * @param untilMs time by which the request must have ended; then it is settled by its last reported usage
   */
  async take(scopes: readonly Scope[], estimate: Estimate, untilMs: UnixMs): Promise<Reservation | Refusal> {
    const outcome = this.admit(scopes, estimate, untilMs);
    const sharing = this.#sharing;
    if (!sharing || outcome.type === 'refusal' || outcome.holds.length === 0) return outcome;
    const { holds } = outcome;
    const asked = holds.map(({ limit: { rule }, counter, slot, amount }): GrantRequest => {
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
   * `take` without the shared store, synchronously.
   * @param untilMs time by which the request must have ended
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
        // An answer that is not streamed cannot be stopped, so it reserves more only for what it has used.
        const step = estimate.leastNanoUsd === undefined ? 0 : Math.max(1, amount);
        const hold = { limit, counter, shared, slot, amount, granted: amount, step, recall: null };
        reservation.hold({ ...hold, charged: 0, lapsed: 0, isRefused: false });
      }
    reservation.place = this.#open.add(reservation);
    return reservation;
  }

  /** Sets the limits that are not yet read from the ledger; null: none. Requests under them cannot begin. */
  awaitLedger(unread: UnreadLimits | null): void {
    this.#unread = unread;
  }

  /** Resolves when more of the limits of a refused request were read from the ledger; null: all of them are read. */
  unread(scopes: readonly Scope[], estimate: Estimate): Promise<void> | null {
    return this.#unread && this.#firstUnread(scopes, estimate.model) ? this.#unread.wait() : null;
  }

  /**
   * True if a limit is exhausted that counts all requests alike. Such requests can be refused without reading their body.
   * Reserves nothing.
   */
  isFull(scopes: readonly Scope[]): boolean {
    const now = this.#time.now();
    return scopes.some(({ limitsOfAll }) => this.#isExhausted(limitsOfAll, now));
  }

  /** True if a budget is spent, so that only free or unpriced requests can begin. Reserves nothing. */
  isSpent(scopes: readonly Scope[]): boolean {
    const now = this.#time.now();
    return scopes.some(({ budgetsOfAll }) => this.#isExhausted(budgetsOfAll, now));
  }

  /** Refusal that a request would get now; null: it may be admitted. Reserves nothing. */
  check(scopes: readonly Scope[], estimate: Estimate): Refusal | null {
    const refusal = this.#check(scopes, estimate, this.#time.now(), true);
    return refusal && this.#shown(refusal);
  }

  /**
   * Reports the usage of a running request so far, and increases its reservations if needed.
   * @returns refusal of the exhausted budget, in which case the answer must be stopped; null: it may continue
   */
  grow(reservation: Reservation, spent: Spent): Refusal | null {
    if (reservation.isSettled) return null;
    reservation.spent = spent;
    // A reservation that was swept after its deadline is tracked again.
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
      if (isOver) refusal ??= refusalOf('budget', hold, Math.max(0, by), now, used);
    }
    return refusal && this.#shown(refusal);
  }

  /**
   * Requests a further step for a running answer from the shared store. The answer continues in the meantime.
   * @returns true if the granted amount is exhausted
   */
  #isRefusedMore(hold: LimitReservation, shared: Shared, used: number): boolean {
    const sharing = this.#sharing;
    if (used > hold.granted && hold.isRefused) return true;
    if (!sharing || hold.recall || used <= requiredAmount(hold)) return false;
    const now = this.#time.now();
    if (!shared.mayHave(1) && hold.counter.usedIn(hold.slot, now) + 1 > shared.room())
      return used > hold.granted;
    hold.step = Math.max(hold.step, Math.ceil(used / 4));
    // Usage beyond the granted amount is already counted.
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

  /** Replaces the reservations of a request by its actual usage. Later calls have no effect. */
  settle(reservation: Reservation, spent: Spent): void {
    if (reservation.isSettled) return;
    reservation.isSettled = true;
    this.#drop(reservation);
    this.#charge(reservation, spent);
  }

  /** Usage of each limit. Limits per end user show that of the given one. */
  limitUsages(scopes: readonly Scope[], model: string | null, endUser: string | null): readonly LimitUsage[] {
    const now = this.#time.now();
    return scopes
      .flatMap((scope) => (model === null ? scope.limits : scope.limitsOf(model)))
      .filter(({ counter }) => counter !== null || endUser !== null)
      .map((limit) => {
        const counter = this.counterOf(limit, endUser);
        const used = counter.used(now) + this.#remoteUsage(counter);
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

  /** The limit of a kind with the least remaining amount for a model and an end user; null: none. */
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
        const left = limit.rule.amount - this.#remoteUsage(counter) - counter.used(now);
        if (left >= least) continue;
        least = left;
        found = limit;
      }
    if (!found) return null;
    const clearsAtMs = this.#time.shown(this.counterOf(found, endUser).clearsAt(now));
    return { amount: found.rule.amount, remaining: Math.max(0, least), clearsAtMs };
  }

  /**
   * Lowers the remaining amount of limits to what a vendor announced in its headers. Limits of the same kind and size count
   * as the same limit. Never raises it, because the vendor has not counted running requests yet.
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
      const unseen = rule.amount - remaining - this.#remoteUsage(counter) - counter.used(now);
      const slot = unseen > 0 ? counter.restore(unseen, now, now) : null;
      if (slot) this.#sharing?.report(counter, slot);
    }
  }

  /** Counter of a limit, or of one end user for limits per end user. */
  counterOf(limit: Limit, endUser: string | null): Counter {
    return (
      limit.counter ?? this.#endUsers.counterOf(limitId(limit), limit.rule, endUser ?? '', this.#time.now())
    );
  }

  /** Milliseconds to add to the limiter's monotonic time to get Unix milliseconds. */
  get stepMs(): DurationMs {
    this.#time.now();
    return this.#time.ms;
  }

  /**
   * Start of a calendar period in Unix milliseconds; 0: the window has no periods.
   * @param atMs monotonic time within the period
   */
  periodStart(window: Window, atMs: UnixMs): UnixMs {
    return this.#maker.calendarOf(window)?.startOf(atMs) ?? 0;
  }

  /** Converts the times of a refusal to Unix milliseconds. */
  #shown(refusal: Refusal): Refusal {
    return this.#time.ms === 0 ? refusal : { ...refusal, frees: this.#time.shown(refusal.frees) };
  }

  /** Finds the refusal that lasts longest, so that a client that waits for it is not refused by the next limit. */
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

  #isExhausted(limits: readonly Limit[], now: UnixMs): boolean {
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

  /** Usage of a counter by other processes. */
  #remoteUsage(counter: Counter): number {
    return this.#sharing?.known(counter)?.others ?? 0;
  }

  /** Releases the part of a reservation that was not granted. The shared store has not counted it. */
  #keep(hold: LimitReservation, reserved: number, granted: number): void {
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

  /** Settles expired reservations by their last reported usage. A later settlement corrects it. */
  #sweep(now: UnixMs): void {
    this.#sweepAt = now + SWEEP_MS;
    for (const reservation of this.#open) {
      if (reservation.expiresAtMs > now) continue;
      this.#drop(reservation);
      this.#charge(reservation, reservation.spent);
    }
  }
}
