// What one request holds of the limits that apply to it, from its admission to its settlement.
import type { Ceiling } from './ceiling.ts';
import type { Counter, Slot } from './counter.ts';
import type { Limit } from './scope.ts';

/** What a request has used. */
export interface Spent {
  /** 0 where nothing of it was charged, more than 1 where an answer took several turns. */
  readonly requests: number;
  readonly tokens: number;
  /** Null: nobody can say. */
  readonly nanoUsd: number | null;
}

export interface Hold {
  readonly limit: Limit;
  readonly counter: Counter;
  /** This process's part of it; null where it has all. */
  readonly ceiling: Ceiling | null;
  slot: Slot;
  /** Reserved now. */
  amount: number;
  /** Counted as spent already: by a settlement that a later one corrects. */
  charged: number;
  /** Of both, what was counted where it came free meanwhile: that can't be given back once more. */
  lapsed: number;
}

export class Reservation {
  readonly type = 'reservation';
  readonly holds: Hold[] = [];
  readonly expiresAtMs: number;
  /** What was last said of it while it ran; null: nothing. */
  spent: Spent | null = null;
  isSettled = false;
  /** Among those that the limiter looks after; null: nowhere. */
  place: number | null = null;

  constructor(expiresAtMs: number) {
    this.expiresAtMs = expiresAtMs;
  }

  hold(hold: Hold): void {
    this.holds.push(hold);
  }
}
