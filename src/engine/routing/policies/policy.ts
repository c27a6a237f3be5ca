// A policy: a strategy for the order of one model's endpoints.
import type { Factor, Measured } from '../factors/index.ts';
import type { Ranked } from '../rank.ts';

export interface PolicyContext {
  readonly factor: Factor | null;
  /** How many of the endpoints, from the first on, were asked for in this order before all others. */
  readonly preferred: number;
  /** Index of the endpoint whose turn it is; counts up with every call. */
  readonly turn: () => number;
}

export interface Policy {
  /** Orders the endpoints; those that are set aside come last anyway and need no thought here. */
  order(subjects: readonly Measured[], context: PolicyContext): readonly Ranked[];
}
