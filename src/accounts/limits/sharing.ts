// How limits are shared with other processes, as a limiter sees it. An amount is reserved here first, and is kept where it is
// granted.
import type { Counter, Slot } from './counter.ts';
import type { Limit } from './scope.ts';

/** One counter that processes share. All amounts are in the units of the limit. */
export interface Shared {
  /** Amount that other processes use, as last known. */
  readonly others: number;
  /** Up to where the counter may go here, as far as is known without asking. */
  room(): number;
  /** Whether asking for so much may help: it was not refused a moment ago, and somebody can be asked. */
  mayHave(amount: number): boolean;
}

/** Amount that was reserved here, and is to be granted. */
export interface Asked {
  readonly counter: Counter;
  readonly slot: Slot;
  /** Amount that must be free. */
  readonly need: number;
  /** Amount that was reserved. */
  readonly want: number;
  /** True: no more is granted than what is free. */
  readonly clips: boolean;
}

export interface Sharing {
  /** A limit, or that of one end user where each has a counter. */
  of(limit: Limit, counter: Counter, endUser: string | null): Shared;
  /** The same, where it was asked for before. */
  known(counter: Counter): Shared | null;
  /**
   * Asks for all amounts or none. The counters are those of `of`.
   * @param isRunning true for an answer that runs: it waits 250 ms at most
   * @param done called once, with the granted amounts; `null`: none
   * @returns takes the question back; `done` is not called then
   */
  take(
    asked: readonly Asked[],
    isRunning: boolean,
    done: (granted: readonly number[] | null) => void,
  ): () => void;
  /** The amount of a slot has changed, which others must know. */
  report(counter: Counter, slot: Slot): void;
}
