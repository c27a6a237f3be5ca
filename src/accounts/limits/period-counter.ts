// Counts per calendar period, or for all time. A request belongs to the period in which it was admitted, even if it ends in
// another. The ledger does the same, so that both agree. Periods change on access, without a timer.
import type { Counter, Frees, Slot } from './counter.ts';
import type { Calendar } from './window.ts';
import type { UnixMs } from '../../base/units.ts';

interface Period extends Slot {
  /** Unix milliseconds; 0: one period for all time. */
  readonly start: number;
  lastMs: UnixMs;
}

/** A ledger sum over several periods. It counts in the last of them. */
interface Spread {
  readonly from: number;
  readonly to: number;
  readonly amount: number;
}

/** Periods that are kept: the current one, and others for a clock that is set back. */
const MOST_PERIODS = 3;
/** Periods that are kept while the current one is the oldest, because the clock was set back. */
const MOST_AHEAD = 16;

export class PeriodCounter implements Counter {
  reserved = 0;
  readonly #calendar: Calendar | null;
  /** Periods in order of time. */
  readonly #periods: Period[] = [];
  #current = -1;
  /** Latest evicted period. It and all earlier ones count as full as the fullest evicted one. */
  #forgotten = -1;
  #mostForgotten = 0;
  /** Ledger sums after a start with a clock that was set back; nearly always null. */
  #spread: Spread[] | null = null;

  /** @param calendar null: one period for all time */
  constructor(calendar: Calendar | null) {
    this.#calendar = calendar;
  }

  used(nowMs: UnixMs): number {
    this.#periodAt(nowMs);
    // After the clock was set back, spend of later periods counts as well, so that no period is overspent.
    let used = 0;
    for (let at = this.#current; at < this.#periods.length; at += 1) used += this.#periods[at]?.used ?? 0;
    return used;
  }

  usedIn(slot: Slot, nowMs: UnixMs): number {
    const { start } = this.#periodAt(nowMs);
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
    const period = this.#periodAt(nowMs);
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
    const period = this.#periodAt(atMs);
    period.used += spent;
    const { start } = this.#periodAt(nowMs);
    if (start < period.start) (this.#spread ??= []).push({ from: start, to: period.start, amount: spent });
    return period;
  }

  freesAt(amount: number, limit: number, nowMs: UnixMs, spent = 0): Frees {
    if (this.used(nowMs) - this.reserved + spent + amount <= limit) return 'settled';
    return amount > limit ? 'never' : (this.clearsAt(nowMs) ?? 'never');
  }

  clearsAt(nowMs: UnixMs): UnixMs | null {
    return this.#calendar ? this.#calendar.endOf(nowMs) : null;
  }

  #periodAt(nowMs: UnixMs): Period {
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

  /** Evicts the oldest period. If it is the current one, evicts the one before the newest, which takes over its sum. */
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
