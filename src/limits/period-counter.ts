// Counts by calendar period, or for all time. A request belongs wholly to the period in which it was admitted, also when
// it ends in another: so do the ledger's records, and the two agree. Rolls over when it is asked, not by a timer.
import type { Counter, Frees, Slot } from './counter.ts';
import type { Calendar } from './window.ts';

interface Period extends Slot {
  /** Unix milliseconds; 0 where there is but one period. */
  readonly start: number;
}

/** Periods that are remembered: the current one, and others for clocks that are set back. */
const MOST_PERIODS = 3;

export class PeriodCounter implements Counter {
  reserved = 0;
  readonly #calendar: Calendar | null;
  /** In the order of time. */
  readonly #periods: Period[] = [];
  #current = -1;

  /** @param calendar null: one period for all time */
  constructor(calendar: Calendar | null) {
    this.#calendar = calendar;
  }

  used(nowMs: number): number {
    this.#turnTo(nowMs);
    // After the clock was set back, what was spent in the periods to come counts as well: no period is overspent then.
    let used = 0;
    for (let at = this.#current; at < this.#periods.length; at += 1) used += this.#periods[at]?.used ?? 0;
    return used;
  }

  usedIn(slot: Slot, nowMs: number): number {
    const { start } = this.#turnTo(nowMs);
    return 'start' in slot && (slot as Period).start < start ? slot.used : this.used(nowMs);
  }

  reserve(amount: number, nowMs: number): Slot {
    const period = this.#turnTo(nowMs);
    period.used += amount;
    this.reserved += amount;
    return period;
  }

  grow(slot: Slot, by: number): Slot {
    slot.used += by;
    this.reserved += by;
    return slot;
  }

  settle(slot: Slot, reserved: number, actual: number): void {
    slot.used += actual - reserved;
    this.reserved -= reserved;
  }

  restore(spent: number, atMs: number, nowMs: number): void {
    this.#turnTo(atMs).used += spent;
    this.#turnTo(nowMs);
  }

  freesAt(amount: number, limit: number, nowMs: number): Frees {
    if (this.used(nowMs) - this.reserved + amount <= limit) return 'settled';
    return amount > limit ? 'never' : (this.clearsAt(nowMs) ?? 'never');
  }

  clearsAt(nowMs: number): number | null {
    return this.#calendar ? this.#calendar.endOf(nowMs) : null;
  }

  #turnTo(nowMs: number): Period {
    const start = this.#calendar ? this.#calendar.startOf(nowMs) : 0;
    const current = this.#periods[this.#current];
    if (current?.start === start) return current;
    let at = this.#periods.findIndex((period) => period.start >= start);
    if (at < 0) at = this.#periods.length;
    const known = this.#periods[at];
    this.#current = at;
    if (known?.start === start) return known;
    const period = { start, used: 0 };
    this.#periods.splice(at, 0, period);
    if (this.#periods.length > MOST_PERIODS) this.#forgetOne();
    return period;
  }

  /** The oldest period goes; when the clock was set back to it, the newest, whose sum the one before it takes over. */
  #forgetOne(): void {
    if (this.#current > 0) {
      this.#periods.shift();
      this.#current -= 1;
      return;
    }
    const newest = this.#periods.pop();
    const before = this.#periods.at(-1);
    if (newest && before) before.used += newest.used;
  }
}
