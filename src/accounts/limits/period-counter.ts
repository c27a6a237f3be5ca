// Counts by calendar period, or for all time. A request belongs wholly to the period in which it was admitted, also when
// it ends in another: so do the ledger's records, and the two agree. Rolls over when it is asked, not by a timer.
import type { Counter, Frees, Slot } from './counter.ts';
import type { Calendar } from './window.ts';
import type { UnixMs } from '../../base/units.ts';

interface Period extends Slot {
  /** Unix milliseconds; 0 where there is but one period. */
  readonly start: number;
  lastMs: UnixMs;
}

/** A ledger sum over several periods: it counts in the last of them. */
interface Spread {
  readonly from: number;
  readonly to: number;
  readonly amount: number;
}

/** Periods that are remembered: the current one, and others for clocks that are set back. */
const MOST_PERIODS = 3;
/** The same, while the current one is the oldest, by a clock that was set back. */
const MOST_AHEAD = 16;

export class PeriodCounter implements Counter {
  reserved = 0;
  readonly #calendar: Calendar | null;
  /** In the order of time. */
  readonly #periods: Period[] = [];
  #current = -1;
  /** The latest period that was forgotten: from it back, each is as full as the fullest of those forgotten. */
  #forgotten = -1;
  #mostForgotten = 0;
  /** After a start with a clock that was set back; null, as nearly always, where there is none. */
  #spread: Spread[] | null = null;

  /** @param calendar null: one period for all time */
  constructor(calendar: Calendar | null) {
    this.#calendar = calendar;
  }

  used(nowMs: UnixMs): number {
    this.#turnTo(nowMs);
    // Spend of later periods counts as well after the clock was set back: no period is overspent then.
    let used = 0;
    for (let at = this.#current; at < this.#periods.length; at += 1) used += this.#periods[at]?.used ?? 0;
    return used;
  }

  usedIn(slot: Slot, nowMs: UnixMs): number {
    const { start } = this.#turnTo(nowMs);
    if (!isPeriod(slot) || slot.start >= start) return this.used(nowMs);
    let { used } = slot;
    for (const { from, to, amount } of this.#spread ?? [])
      if (slot.start >= from && slot.start < to) used += amount;
    return used;
  }

  periodOf(slot: Slot): number {
    return isPeriod(slot) ? slot.start : 0;
  }

  reserve(amount: number, nowMs: UnixMs): Slot {
    const period = this.#turnTo(nowMs);
    this.grow(period, amount);
    period.lastMs = nowMs;
    return period;
  }

  grow(slot: Slot, by: number): Slot {
    slot.used += by;
    slot.reserved += by;
    this.reserved += by;
    return slot;
  }

  settle(slot: Slot, reserved: number, actual: number): void {
    slot.used += actual - reserved;
    slot.reserved -= reserved;
    this.reserved -= reserved;
  }

  restore(spent: number, atMs: UnixMs, nowMs: UnixMs): Slot {
    const period = this.#turnTo(atMs);
    period.used += spent;
    const { start } = this.#turnTo(nowMs);
    if (start < period.start) (this.#spread ??= []).push({ from: start, to: period.start, amount: spent });
    return period;
  }

  freesAt(amount: number, limit: number, nowMs: UnixMs): Frees {
    if (this.used(nowMs) - this.reserved + amount <= limit) return 'settled';
    return amount > limit ? 'never' : (this.clearsAt(nowMs) ?? 'never');
  }

  clearsAt(nowMs: UnixMs): UnixMs | null {
    return this.#calendar ? this.#calendar.endOf(nowMs) : null;
  }

  #turnTo(nowMs: UnixMs): Period {
    const start = this.#calendar ? this.#calendar.startOf(nowMs) : 0;
    const current = this.#periods[this.#current];
    if (current?.start === start) return current;
    let at = this.#periods.findIndex((period) => period.start >= start);
    if (at < 0) at = this.#periods.length;
    const known = this.#periods[at];
    this.#current = at;
    if (known?.start === start) return known;
    const used = start <= this.#forgotten ? this.#mostForgotten : 0;
    const period = { start, used, reserved: 0, lastMs: nowMs, isLate: false as const };
    this.#periods.splice(at, 0, period);
    if (this.#periods.length > MOST_PERIODS) this.#forgetOne();
    return period;
  }

  /** The oldest period goes; when the clock was set back to it, one before the newest, which takes over its sum. */
  #forgetOne(): void {
    if (this.#current > 0) {
      const oldest = this.#periods.shift();
      this.#current -= 1;
      this.#forgotten = Math.max(this.#forgotten, oldest?.start ?? -1);
      this.#mostForgotten = Math.max(this.#mostForgotten, oldest?.used ?? 0);
    } else if (this.#periods.length > MOST_AHEAD) {
      const [before, newest] = this.#periods.splice(-2);
      if (!before || !newest) return;
      newest.used += before.used;
      this.#periods.push(newest);
    }
  }
}

function isPeriod(slot: Slot): slot is Period {
  return 'start' in slot;
}
