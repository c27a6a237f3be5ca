// A policy: a strategy for ordering one model's endpoints.
import type { Factor, Measured } from '../factors/index.ts';
import type { Ranked } from '../rank.ts';

export interface PolicyContext {
  readonly factor: Factor | null;
  /** Number of leading endpoints that were requested before all others. */
  readonly preferred: number;
  /** Returns the round-robin counter, and increments it. */
  readonly turn: () => number;
}

export interface Policy {
  /** Orders the endpoints. Unavailable ones are moved to the end by the caller. */
  order(subjects: readonly Measured[], context: PolicyContext): readonly Ranked[];
}
