// Number of requests as which a record counts in limits. Used by the counters, and by the sums that restore them at a start.

/** Members of a record that determine it. */
export interface CountedOf {
  /** Model turns in its answer, at least 1. */
  readonly turns: number;
  /** True if it ended with an error. */
  readonly failed: boolean;
  /** True if an upstream charged for it. */
  readonly isCharged: boolean;
}

/** One for each turn; 0 for a failed request without charge. */
export function countedRequests({ turns, failed, isCharged }: CountedOf): number {
  return failed && !isCharged ? 0 : turns;
}
