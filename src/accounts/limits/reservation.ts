// Reservation of a request in all limits that apply, from admission to settlement.
import type { Counter, Slot } from './counter.ts';
import type { Limit } from './scope.ts';
import type { Shared } from './sharing.ts';
import type { UnixMs } from '../../base/units.ts';

/** Usage of a request. */
export interface Spent {
  /** 0: not charged. More than 1: the answer took several turns. */
  readonly requests: number;
  readonly tokens: number;
  /** Null: unknown. */
  readonly nanoUsd: number | null;
}

export interface LimitReservation {
  readonly limit: Limit;
  readonly counter: Counter;
  /** `null`: not shared with other processes. */
  readonly shared: Shared | null;
  slot: Slot;
  /** Currently reserved amount. */
  amount: number;
  /** Amount charged by an earlier settlement, which a later one corrects. */
  charged: number;
  /** Part of both that has left the window, and must not be released again. */
  lapsed: number;
  /** Granted part of both, for shared budgets that stop answers. */
  granted: number;
  /** Amount of one increase. The next is requested when three quarters of the last are used. */
  step: number;
  /** Cancels the request for a further step. `null`: none is pending. */
  recall: (() => void) | null;
  /** True: the latest step was refused. */
  isRefused: boolean;
}

/** Usage up to which a running request needs no further reservation. */
export function requiredAmount({ limit, amount, charged, shared, granted, step }: LimitReservation): number {
  return shared && limit.rule.stops ? granted - step / 4 : amount + charged;
}

export class Reservation {
  readonly type = 'reservation';
  readonly holds: LimitReservation[] = [];
  readonly expiresAtMs: UnixMs;
  /** Last usage reported while running. Null: none yet. */
  spent: Spent | null = null;
  isSettled = false;
  /** Place in the limiter's roster of open reservations; null: not in it. */
  place: number | null = null;

  constructor(expiresAtMs: UnixMs) {
    this.expiresAtMs = expiresAtMs;
  }

  hold(hold: LimitReservation): void {
    this.holds.push(hold);
  }
}

/** Increases the reservation of a running request. */
export function count(hold: LimitReservation, by: number, now: UnixMs): void {
  const slot = hold.counter.grow(hold.slot, by, now);
  if (slot !== hold.slot) hold.lapsed = hold.amount + hold.charged;
  hold.slot = slot;
  hold.amount += by;
}
