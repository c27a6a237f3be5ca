// Counts what happened in the last seconds, hours or days. Each unit comes back one window after it was taken, so no
// span of that length ever holds more than the limit: a token bucket of the same size lets through nearly twice as much
// in the first window after a pause. Counts the same for rates and for rolling budgets.
import type { Counter, Frees, Slot } from './counter.ts';

/** What was counted within one step of time. Freed when its last unit is a window old: never too early. */
class Run implements Slot {
  used: number;
  firstMs: number;
  lastMs: number;
  /** False once it is older than the window. */
  counts = true;
  /** True for what a request uses a window after its admission, when the place where it was counted first is free again. */
  readonly isLate: boolean;

  constructor(used: number, atMs: number, isLate = false) {
    this.used = used;
    this.isLate = isLate;
    this.firstMs = atMs;
    this.lastMs = atMs;
  }
}

const HOUR = 3_600_000;
/** Steps of a window; requests of one step share a run. Up to an hour a step is less than anybody notices, and there are
 * no more runs than requests; longer windows are kept by many keys at once, and have few. */
const SHORT_STEPS = 1024;
const LONG_STEPS = 60;
/** Freed runs at the front of the queue before it is made shorter. */
const MOST_FREED = 64;
/** Share of a window within which a place that came free and is taken again counts from when it came free: or else those
 * who ask again and again would get less with every window, by as much as they ask late. */
const AT_ONCE = 0.01;

/** Within how many milliseconds what is counted in a window of so many comes free together. */
export function stepMsOf(windowMs: number): number {
  return windowMs / (windowMs > HOUR ? LONG_STEPS : SHORT_STEPS);
}

export class RollingCounter implements Counter {
  reserved = 0;
  late = 0;
  readonly #windowMs: number;
  readonly #stepMs: number;
  readonly #runs: Run[] = [];
  /** Index of the oldest run that counts. */
  #head = 0;
  #used = 0;
  /** Runs that were freed a moment ago, each with what of it nobody has taken since. Not of long windows. */
  readonly #vacant: Run[] = [];
  readonly #atOnceMs: number;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
    this.#atOnceMs = windowMs > HOUR ? 0 : windowMs * AT_ONCE;
    this.#stepMs = stepMsOf(windowMs);
  }

  used(nowMs: number): number {
    const last = this.#runs.at(-1);
    if (!last) return 0;
    if (last.lastMs > nowMs) this.#setBack(nowMs);
    this.#forgetVacant(nowMs);
    for (;;) {
      const run = this.#runs[this.#head];
      if (!run || run.lastMs + this.#windowMs > nowMs) break;
      run.counts = false;
      this.#used -= run.used;
      if (run.isLate) this.late -= run.used;
      this.#head += 1;
      if (this.#atOnceMs > 0) this.#vacant.push(run);
    }
    if (this.#head > MOST_FREED || this.#head === this.#runs.length) {
      this.#runs.splice(0, this.#head);
      this.#head = 0;
    }
    return this.#used;
  }

  usedIn(_slot: Slot, nowMs: number): number {
    return this.used(nowMs);
  }

  periodOf(): number {
    return 0;
  }

  reserve(amount: number, nowMs: number): Slot {
    this.reserved += amount;
    return this.#count(amount, nowMs);
  }

  grow(slot: Slot, by: number, nowMs: number): Slot {
    this.reserved += by;
    return this.#recount(slot, by, nowMs);
  }

  settle(slot: Slot, reserved: number, actual: number, nowMs: number): void {
    this.reserved -= reserved;
    this.#recount(slot, actual - reserved, nowMs);
  }

  restore(spent: number, atMs: number, nowMs: number): void {
    const at = Math.min(atMs, nowMs);
    if (spent <= 0 || at + this.#windowMs <= nowMs) return;
    const next = this.#runs.findIndex(({ lastMs }, index) => index >= this.#head && lastMs > at);
    this.#runs.splice(next < 0 ? this.#runs.length : next, 0, new Run(spent, at));
    this.#used += spent;
  }

  freesAt(amount: number, limit: number, nowMs: number): Frees {
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

  clearsAt(nowMs: number): number {
    return this.used(nowMs) === 0 ? nowMs : (this.#runs.at(-1)?.lastMs ?? nowMs) + this.#windowMs;
  }

  #count(amount: number, nowMs: number, isLate = false): Run {
    this.used(nowMs);
    this.#used += amount;
    const atMs = this.#momentOf(amount, nowMs);
    const last = this.#runs.at(-1);
    if (last && !isLate && !last.isLate && atMs - last.firstMs < this.#stepMs) {
      last.lastMs = Math.max(last.lastMs, atMs);
      last.used += amount;
      return last;
    }
    const run = new Run(amount, atMs, isLate);
    if (isLate) this.late += amount;
    this.#runs.push(run);
    return run;
  }

  /** From when an amount counts: now, or since the places came free that it takes, if that was a moment ago. */
  #momentOf(amount: number, nowMs: number): number {
    this.#forgetVacant(nowMs);
    let left = amount;
    for (let run = this.#vacant[0]; run; run = this.#vacant[0]) {
      const taken = Math.min(run.used, left);
      run.used -= taken;
      left -= taken;
      if (run.used === 0) this.#vacant.shift();
      if (left === 0) return run.lastMs + this.#windowMs;
    }
    return nowMs;
  }

  #forgetVacant(nowMs: number): void {
    const oldest = nowMs - this.#atOnceMs - this.#windowMs;
    for (let run = this.#vacant[0]; run && run.lastMs < oldest; run = this.#vacant[0]) this.#vacant.shift();
  }

  /** Corrects an amount where it was counted. What goes beyond it when that has been freed counts from now on. */
  #recount(slot: Slot, by: number, nowMs: number): Slot {
    this.used(nowMs);
    if (slot instanceof Run && !slot.counts) return by > 0 ? this.#count(by, nowMs, true) : slot;
    slot.used += by;
    this.#used += by;
    if (slot instanceof Run && slot.isLate) this.late += by;
    return slot;
  }

  /** The clock was set back: what seems to lie ahead counts for one more window from now, and no longer. */
  #setBack(nowMs: number): void {
    this.#vacant.length = 0;
    for (let at = this.#runs.length - 1; at >= this.#head; at -= 1) {
      const run = this.#runs[at];
      if (!run || run.lastMs <= nowMs) return;
      run.lastMs = nowMs;
      run.firstMs = Math.min(run.firstMs, nowMs);
    }
  }
}
