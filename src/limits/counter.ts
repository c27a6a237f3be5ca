// What counts one limit for one owner: the form that all counters have. A counter knows how much of its window is used;
// how much may be used is its caller's to know. Given the time, never reads a clock; nothing in it waits for a timer.

/** When an amount fits again: Unix milliseconds, when running requests are settled, or never by itself. */
export type Frees = number | 'settled' | 'never';

/** Where in a counter something was counted: its period, or its moment. */
export interface Slot {
  /** Units that are counted here. */
  used: number;
}

export interface Counter {
  /** Units of all reservations that are not settled. */
  readonly reserved: number;
  /** Units of those that count which the ledger has at an earlier time, where they count no more. */
  readonly late: number;
  /** Units that count now: spent, and reserved. */
  used(nowMs: number): number;
  /** Units that count where this one was counted, which may be a period that is over. */
  usedIn(slot: Slot, nowMs: number): number;
  /** Unix milliseconds at which the period of this one began; 0 where there is none. */
  periodOf(slot: Slot): number;
  /** Counts an amount that is not final. */
  reserve(amount: number, nowMs: number): Slot;
  /** Counts more for a reservation. Returns where it is counted from now on. */
  grow(slot: Slot, by: number, nowMs: number): Slot;
  /** Replaces what was reserved by what it came to. */
  settle(slot: Slot, reserved: number, actual: number, nowMs: number): void;
  /** Adds what was spent before, and is known from elsewhere. */
  restore(spent: number, atMs: number, nowMs: number): void;
  /** When `amount` more will not exceed `limit`, unless others come first. */
  freesAt(amount: number, limit: number, nowMs: number): Frees;
  /** When nothing will be used any more, if nothing else comes: Unix milliseconds; null: never. */
  clearsAt(nowMs: number): number | null;
}
