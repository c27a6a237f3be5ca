// Counts usage in a rolling window, for rates and for rolling budgets. Each unit is freed one window after it was used, so
// that no span of that length exceeds the limit. A token bucket of the same size lets nearly twice as much through in the
// first window after a pause.
import type { Counter, Frees, Slot } from './counter.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Amount counted within one time step. It is freed when its last unit is one window old, never earlier. */
class Run implements Slot {
  used: number;
  reserved = 0;
  firstMs: UnixMs;
  lastMs: UnixMs;
  /** False once it has left the window. */
  counts = true;
  /** True for usage of a request whose first slot has already left the window. */
  readonly isLate: boolean;

  constructor(used: number, atMs: UnixMs, isLate = false) {
    this.used = used;
    this.isLate = isLate;
    this.firstMs = atMs;
    this.lastMs = atMs;
  }
}

const HOUR = 3_600_000;
/** Steps per window; requests of one step share a run. Windows up to an hour have many steps, so that a step is short.
 * Longer windows have few, because many keys use them at the same time. */
const SHORT_STEPS = 1024;
const LONG_STEPS = 60;
/** Freed runs at the front of the queue before it is compacted. */
const MOST_FREED = 64;

/** Length of one step in milliseconds. Amounts of one step are freed together. */
export function stepMsOf(windowMs: DurationMs): DurationMs {
  return windowMs / (windowMs > HOUR ? LONG_STEPS : SHORT_STEPS);
}

export class RollingCounter implements Counter {
  reserved = 0;
  readonly #windowMs: DurationMs;
  readonly #stepMs: DurationMs;
  readonly #runs: Run[] = [];
  /** Index of the oldest run in the window. */
  #head = 0;
  #used = 0;

  /** @param isShared true: uses few steps, because each one is reported to the shared store */
  constructor(windowMs: DurationMs, isShared = false) {
    this.#windowMs = windowMs;
    this.#stepMs = isShared ? windowMs / LONG_STEPS : stepMsOf(windowMs);
  }

  used(nowMs: UnixMs): number {
    const last = this.#runs.at(-1);
    if (!last) return 0;
    if (last.lastMs > nowMs) this.#setBack(nowMs);
    for (;;) {
      const run = this.#runs[this.#head];
      if (!run || run.lastMs + this.#windowMs > nowMs) break;
      run.counts = false;
      this.#used -= run.used;
      this.#head += 1;
    }
    if (this.#head > MOST_FREED || this.#head === this.#runs.length) {
      this.#runs.splice(0, this.#head);
      this.#head = 0;
    }
    return this.#used;
  }

  usedIn(_slot: Slot, nowMs: UnixMs): number {
    return this.used(nowMs);
  }

  periodOf(): number {
    return 0;
  }

  reserve(amount: number, nowMs: UnixMs): Slot {
    this.reserved += amount;
    const run = this.#count(amount, nowMs);
    run.reserved += amount;
    return run;
  }

  grow(slot: Slot, by: number, nowMs: UnixMs): Slot {
    this.reserved += by;
    const run = this.#recount(slot, by, nowMs);
    run.reserved += by;
    return run;
  }

  settle(slot: Slot, reserved: number, actual: number, nowMs: UnixMs): void {
    this.reserved -= reserved;
    slot.reserved -= reserved;
    this.#recount(slot, actual - reserved, nowMs);
  }

  restore(spent: number, atMs: UnixMs, nowMs: UnixMs): Slot | null {
    const at = Math.min(atMs, nowMs);
    if (spent <= 0 || at + this.#windowMs <= nowMs) return null;
    const next = this.#runs.findIndex(({ lastMs }, index) => index >= this.#head && lastMs > at);
    const run = new Run(spent, at);
    this.#runs.splice(next < 0 ? this.#runs.length : next, 0, run);
    this.#used += spent;
    return run;
  }

  freesAt(amount: number, limit: number, nowMs: UnixMs): Frees {
    if (amount > limit) return 'never';
    let used = this.used(nowMs);
    for (let at = this.#head; at < this.#runs.length; at += 1) {
      const run = this.#runs[at];
      if (!run || used + amount <= limit) break;
      used -= run.used;
      if (used + amount <= limit) return run.lastMs + this.#windowMs;
    }
    return nowMs;
  }

  clearsAt(nowMs: UnixMs): UnixMs {
    return this.used(nowMs) === 0 ? nowMs : (this.#runs.at(-1)?.lastMs ?? nowMs) + this.#windowMs;
  }

  #count(amount: number, nowMs: UnixMs, isLate = false): Run {
    this.used(nowMs);
    this.#used += amount;
    const last = this.#runs.at(-1);
    if (last && !isLate && !last.isLate && nowMs - last.firstMs < this.#stepMs) {
      last.lastMs = nowMs;
      last.used += amount;
      return last;
    }
    const run = new Run(amount, nowMs, isLate);
    this.#runs.push(run);
    return run;
  }

  /** Corrects an amount in its slot. If the slot has left the window, an additional amount counts from now on. */
  #recount(slot: Slot, by: number, nowMs: UnixMs): Slot {
    this.used(nowMs);
    if (slot instanceof Run && !slot.counts) return by > 0 ? this.#count(by, nowMs, true) : slot;
    slot.used += by;
    this.#used += by;
    return slot;
  }

  /** Handles a clock that was set back: runs in the future count for one more window from now. */
  #setBack(nowMs: UnixMs): void {
    for (let at = this.#runs.length - 1; at >= this.#head; at -= 1) {
      const run = this.#runs[at];
      if (!run || run.lastMs <= nowMs) return;
      run.lastMs = nowMs;
      run.firstMs = Math.min(run.firstMs, nowMs);
    }
  }
}
