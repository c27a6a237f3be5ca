// Reservation of one request in all limits that apply to it, from admission to settlement.
import type { Counter, Slot } from './counter.ts';
import type { Limit } from './scope.ts';
import type { Shared } from './sharing.ts';
import type { UnixMs } from '../../base/units.ts';

/** Spend of a request. */
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
  /** `null` where no other process counts the same. */
  readonly shared: Shared | null;
  slot: Slot;
  /** Reserved now. */
  amount: number;
  /** Counted as spent already: by a settlement that a later one corrects. */
  charged: number;
  /** Part of both whose window has passed meanwhile: it cannot be released once more. */
  lapsed: number;
  /** Part of both that is granted, where processes share a budget that stops answers. */
  granted: number;
  /** Amount by which it grows: a further step is asked for when three quarters of the one before are used. */
  step: number;
  /** Takes the question for a further step back. `null`: none is asked. */
  recall: (() => void) | null;
  /** True: the latest step was refused. */
  isRefused: boolean;
}

/** Amount up to which a running request does not have to report what it used. */
export function enoughOf({ limit, amount, charged, shared, granted, step }: Hold): number {
  return shared && limit.rule.stops ? granted - step / 4 : amount + charged;
}

export class Reservation {
  readonly type = 'reservation';
  readonly holds: Hold[] = [];
  readonly expiresAtMs: UnixMs;
  /** Last reported spend while it ran. Null: none yet. */
  spent: Spent | null = null;
  isSettled = false;
  /** Among those that the limiter looks after; null: nowhere. */
  place: number | null = null;

  constructor(expiresAtMs: UnixMs) {
    this.expiresAtMs = expiresAtMs;
  }

  hold(hold: Hold): void {
    this.holds.push(hold);
  }
}

/** Counts more for a running request. */
export function count(hold: Hold, by: number, now: UnixMs): void {
  const slot = hold.counter.grow(hold.slot, by, now);
  if (slot !== hold.slot) hold.lapsed = hold.amount + hold.charged;
  hold.slot = slot;
  hold.amount += by;
}
