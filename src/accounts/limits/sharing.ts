// Interface between the limiter and the shared store. An amount is reserved locally first, and kept if it is granted.
import type { Counter, Slot } from './counter.ts';
import type { Limit } from './scope.ts';

/** A counter shared between processes. Amounts are in the unit of the limit. */
export interface Shared {
  /** Last known usage of other processes. */
  readonly others: number;
  /** Highest usage that this process may reach, as far as is known without a call to the store. */
  room(): number;
  /** True if a call for this amount may succeed: it was not refused a moment ago, and the store is reachable. */
  mayHave(amount: number): boolean;
}

/** An amount that was reserved locally and needs to be granted. */
export interface GrantRequest {
  readonly counter: Counter;
  readonly slot: Slot;
  /** Amount that must be available. */
  readonly need: number;
  /** Locally reserved amount. */
  readonly want: number;
  /** True: grants at most the available amount. */
  readonly clips: boolean;
}

export interface Sharing {
  /** Shared counter of a limit, or of one end user for limits per end user. */
  of(limit: Limit, counter: Counter, endUser: string | null): Shared;
  /** Shared counter of a local one, if `of` was called before. */
  known(counter: Counter): Shared | null;
  /**
   * Requests all amounts or none. The counters are those of `of`.
   * @param isRunning true for a running answer, which waits at most 250 ms
   * @param done called once with the granted amounts; `null`: none
   * @returns a function that cancels the request; `done` is not called then
   */
  take(
    asked: readonly GrantRequest[],
    isRunning: boolean,
    done: (granted: readonly number[] | null) => void,
  ): () => void;
  /** Reports a changed amount of a slot to the store. */
  report(counter: Counter, slot: Slot): void;
}
