// Interface of counters. A counter holds the usage of one limit of one owner; the limit's size is known to the caller. The
// current time is always an argument.
import type { UnixMs } from '../../base/units.ts';

/** When an amount becomes available: Unix milliseconds, when running requests are settled, or never. */
export type Frees = number | 'settled' | 'never';

/** Position of an amount in a counter: its period or its time. */
export interface Slot {
  /** Units counted here. */
  used: number;
  /** Reserved part of `used`. */
  reserved: number;
  /** Time of the latest unit, in the counter's time. */
  readonly lastMs: UnixMs;
  /** True: the ledger has these units at an earlier time, outside of the window. */
  readonly isLate: boolean;
}

export interface Counter {
  /** Units of all unsettled reservations. */
  readonly reserved: number;
  /** Current usage: settled and reserved units. */
  used(nowMs: UnixMs): number;
  /** Usage of the period of a slot, which may have ended. */
  usedIn(slot: Slot, nowMs: UnixMs): number;
  /** Start of the period of a slot in Unix milliseconds; 0: none. */
  periodOf(slot: Slot): number;
  /** Reserves an amount. */
  reserve(amount: number, nowMs: UnixMs): Slot;
  /** Increases a reservation. @returns its slot from now on */
  grow(slot: Slot, by: number, nowMs: UnixMs): Slot;
  /** Replaces a reserved amount by the actual one. */
  settle(slot: Slot, reserved: number, actual: number, nowMs: UnixMs): void;
  /** Adds earlier usage, e.g. from the ledger. @returns its slot; `null`: it no longer counts */
  restore(spent: number, atMs: UnixMs, nowMs: UnixMs): Slot | null;
  /**
   * Time at which `amount` more fits into `limit`, without further requests.
   * @param spent part of the reservations that will be charged, because running answers have used it; default: none
   */
  freesAt(amount: number, limit: number, nowMs: UnixMs, spent?: number): Frees;
  /** Unix milliseconds at which the usage is 0, without further requests; null: never. */
  clearsAt(nowMs: UnixMs): UnixMs | null;
}
