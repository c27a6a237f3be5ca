// Recent outcomes of an endpoint for operators: counts of the last 15 minutes, the last 20 attempts of a day, and
// whether it is failing. Not used for routing.
import type { ErrorKind } from '../../canonical/index.ts';
import type { UnixMs } from '../../base/units.ts';

const SLOT_MS = 15_000;
const WINDOW_MS = 15 * 60_000;
const SLOTS = WINDOW_MS / SLOT_MS;
const DAY_MS = 24 * 3_600_000;
/** Number of attempts that are stored individually. */
const MOST_LAST = 20;
/** Consecutive successes that end a failing state. */
const ENOUGH_GOOD = 3;
/** Minimum attempts, without 429s, for a meaningful share. */
const LEAST = 5;

/** Tolerated clock difference when attempts from storage are compared with those counted here. */
const CLOCKS_APART_MS = 1_000;

/** Outcome of one attempt. `limited`: rate limit. `refused`: the provider refused its key, which also counts as bad. */
export type AttemptEnd = 'good' | 'bad' | 'limited' | 'refused';

export interface PastAttempt {
  readonly atMs: UnixMs;
  readonly end: AttemptEnd;
}

/** Counts of the last 15 minutes, or else of the last 20 attempts within 24 hours. */
export interface AttemptWindow {
  readonly attempts: number;
  readonly good: number;
  readonly bad: number;
  readonly limited: number;
  /** End of the last attempt. Null: the window is the last 15 minutes. */
  readonly asOfMs: UnixMs | null;
  readonly lastWasBad: boolean;
}

interface Slot {
  number: number;
  good: number;
  bad: number;
  limited: number;
}

/** Outcome of an attempt. @param failure null: it was complete */
export function attemptEnd(failure: ErrorKind | null, endpointsFault: boolean): AttemptEnd {
  if (failure === 'rate_limited') return 'limited';
  if (failure === null || !endpointsFault) return 'good';
  return failure === 'authentication' || failure === 'permission' ? 'refused' : 'bad';
}

/** Times are milliseconds on the monotonic clock. */
export class RecentAttempts {
  readonly #slots = new Map<number, Slot>();
  /** Oldest first. */
  #last: PastAttempt[] = [];
  #goodInARow = 0;
  #badSince: UnixMs | null = null;
  #isFailing = false;
  /** When the first attempt was added. */
  #firstAt = Infinity;

  get lastAt(): UnixMs | null {
    return this.#last.at(-1)?.atMs ?? null;
  }

  /** Start of the current problem: the first bad attempt since three consecutive successes. Null: none. */
  get badSince(): number | null {
    return this.#badSince;
  }

  /** True once most attempts fail, the key is refused or the breaker opens, until three consecutive successes. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** @param isBroken true: the breaker is open */
  add(end: AttemptEnd, atMs: UnixMs, isBroken: boolean, times = 1): void {
    this.#firstAt = Math.min(this.#firstAt, atMs);
    this.#note(end, atMs, isBroken, times);
  }

  /** Adds attempts from before this process began, oldest first. */
  seed(attempts: readonly PastAttempt[]): void {
    const own = this.#last;
    const before = this.#firstAt - CLOCKS_APART_MS;
    const isFailing = this.#isFailing;
    const since = this.#badSince;
    const good = this.#goodInARow;
    this.#last = [];
    for (const { end, atMs } of attempts) if (atMs < before) this.#note(end, atMs, false, 1);
    this.#last = [...this.#last, ...own].slice(-MOST_LAST);
    if (own.length === 0) return;
    this.#isFailing = isFailing || (this.#isFailing && good < ENOUGH_GOOD);
    this.#badSince = good >= ENOUGH_GOOD ? since : (this.#badSince ?? since);
    this.#goodInARow = good;
  }

  window(nowMs: UnixMs): AttemptWindow {
    const counts = { good: 0, bad: 0, limited: 0 };
    const first = Math.floor(nowMs / SLOT_MS) - SLOTS;
    for (const slot of this.#slots.values())
      if (slot.number > first) {
        counts.good += slot.good;
        counts.bad += slot.bad;
        counts.limited += slot.limited;
      }
    const last = this.#last.at(-1);
    const lastWasBad = last !== undefined && (last.end === 'bad' || last.end === 'refused');
    const attempts = counts.good + counts.bad + counts.limited;
    if (attempts > 0) return { ...counts, attempts, asOfMs: null, lastWasBad };
    for (const { atMs, end } of this.#last)
      if (atMs > nowMs - DAY_MS) counts[end === 'refused' ? 'bad' : end] += 1;
    return {
      ...counts,
      attempts: counts.good + counts.bad + counts.limited,
      asOfMs: last?.atMs ?? null,
      lastWasBad,
    };
  }

  #note(end: AttemptEnd, atMs: UnixMs, isBroken: boolean, times: number): void {
    const number = Math.floor(atMs / SLOT_MS);
    let slot = this.#slots.get(number);
    if (!slot) {
      this.#slots.set(number, (slot = { number, good: 0, bad: 0, limited: 0 }));
      for (const each of this.#slots.keys()) if (each <= number - SLOTS) this.#slots.delete(each);
    }
    slot[end === 'refused' ? 'bad' : end] += times;
    for (let time = 0; time < Math.min(times, MOST_LAST); time += 1) this.#last.push({ atMs, end });
    if (this.#last.length > MOST_LAST) this.#last.splice(0, this.#last.length - MOST_LAST);
    this.#judge(end, atMs, isBroken, times);
  }

  #judge(end: AttemptEnd, atMs: UnixMs, isBroken: boolean, times: number): void {
    if (end === 'good') {
      this.#goodInARow += times;
      if (this.#goodInARow < ENOUGH_GOOD) return;
      this.#isFailing = false;
      this.#badSince = null;
      return;
    }
    if (end === 'limited') return;
    this.#goodInARow = 0;
    this.#badSince ??= atMs;
    const { good, bad } = this.window(atMs);
    if (end === 'refused' || isBroken || (good + bad >= LEAST && good < bad)) this.#isFailing = true;
  }
}
