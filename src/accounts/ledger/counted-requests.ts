// Number of requests that a record counts for: in counters of limits, and in sums over records that set them after a start.

/** Members of a record that decide it. */
export interface CountedOf {
  /** Turns of models in its answer, at least 1. */
  readonly turns: number;
  /** Whether it ended with an error. */
  readonly failed: boolean;
  /** Whether something was used for it. */
  readonly isCharged: boolean;
}

/** One for each turn. What failed and used nothing is as if it had never been. */
export function countedRequests({ turns, failed, isCharged }: CountedOf): number {
  return failed && !isCharged ? 0 : turns;
}
