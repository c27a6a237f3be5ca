// How much of a limit this process may use, where others use it as well: what a limiter asks of whoever shares it out.
import type { Counter } from './counter.ts';
import type { Limit } from './scope.ts';

/** This process's part of one counter. All amounts are in the units of the limit. */
export interface Ceiling {
  /** What others use or may use, as last known. */
  readonly others: number;
  /** Up to where the counter may go here: at a moment in Unix milliseconds, for what is counted in a period, which may be over. */
  room(nowMs: number, periodStart?: number): number;
  /** So much was taken of it: by that it is known how fast it goes. */
  took(amount: number): void;
  /**
   * More is needed than there is room for; others may have some.
   * @returns false where it was asked for a moment ago, or cannot be, and there is none
   */
  lacks(amount: number, nowMs: number, periodStart?: number): boolean;
  /** Whether asking for more may help, as far as is known. */
  mayHaveMore(): boolean;
}

export interface Ceilings {
  /** That of a limit, of one end user where each has a counter. */
  of(limit: Limit, counter: Counter, endUser: string | null): Ceiling;
  /** The same, where it was asked for before. */
  known(counter: Counter): Ceiling | null;
  /** Resolves when whoever shares out has answered what was lacking, or does not in time. */
  answered(): Promise<void>;
  /** A counter is gone here, and will begin anew. */
  drop(counter: Counter): void;
}
