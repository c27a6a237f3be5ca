// A counter of one limit for one owner: the interface of all of them. A counter knows how much of its window is used;
// its caller knows how much may be used. Time is an argument: it reads no clock and has no timer.
import type { UnixMs } from '../../base/units.ts';

/** Time when an amount fits again: Unix milliseconds, when running requests are settled, or never by itself. */
export type Frees = number | 'settled' | 'never';

/** Place of an amount in a counter: its period, or its moment. */
export interface Slot {
  /** Units that are counted here. */
  used: number;
  /** Units of these that are reserved. */
  reserved: number;
  /** When the latest of them was counted, by the counter's time. */
  readonly lastMs: UnixMs;
  /** True for units that the ledger has at an earlier time, where they count no more. */
  readonly isLate: boolean;
}

export interface Counter {
  /** Units of all reservations that are not settled. */
  readonly reserved: number;
  /** Units that count now: spent, and reserved. */
  used(nowMs: UnixMs): number;
  /** Units that count where this one was counted, which may be a period that is over. */
  usedIn(slot: Slot, nowMs: UnixMs): number;
  /** Unix milliseconds at which the period of this one began; 0 where there is none. */
  periodOf(slot: Slot): number;
  /** Counts an amount that is not final. */
  reserve(amount: number, nowMs: UnixMs): Slot;
  /** Counts more for a reservation. Returns where it is counted from now on. */
  grow(slot: Slot, by: number, nowMs: UnixMs): Slot;
  /** Replaces what was reserved by what it came to. */
  settle(slot: Slot, reserved: number, actual: number, nowMs: UnixMs): void;
  /** Adds what was spent before, and is known from elsewhere. @returns where it counts; `null`: nowhere */
  restore(spent: number, atMs: UnixMs, nowMs: UnixMs): Slot | null;
  /** Time when `amount` more will not exceed `limit`, unless others come first. */
  freesAt(amount: number, limit: number, nowMs: UnixMs): Frees;
  /** Time when nothing will be used any more, if nothing else comes: Unix milliseconds; null: never. */
  clearsAt(nowMs: UnixMs): UnixMs | null;
}
