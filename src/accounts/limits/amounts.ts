// Amounts of a limit that a request needs, takes and has used: requests, tokens or nano-dollars.
import type { Spent } from './reservation.ts';
import type { LimitRule } from './rule.ts';

/** Required capacity of a request, by estimate. */
export interface Estimate {
  readonly model: string;
  /** Hash of the end user; null: the request names none. */
  readonly endUser: string | null;
  /** Input, and the output that is expected. */
  readonly tokens: number;
  /** Tokens that it asks for itself: its input, and the most output that its client names. Absent: nothing is certain. */
  readonly certainTokens?: number | undefined;
  /** Its cost in nano-dollars. Null: the price is unknown. */
  readonly nanoUsd: number | null;
  /**
   * Nano-dollars that a budget must have left for the request to begin, where a running answer stops when the budget
   * is spent. Default: `nanoUsd`.
   */
  readonly leastNanoUsd?: number | undefined;
}

/** True where a request asks for more tokens than a limit ever has, and nobody has allowed that. */
export function neverFits({ kind, amount, allowsTooLarge }: LimitRule, estimate: Estimate): boolean {
  return kind === 'tokens' && !allowsTooLarge && (estimate.certainTokens ?? 0) > amount;
}

/** Amount that a limit must have left for a request to begin. */
export function neededOf(rule: LimitRule, estimate: Estimate): number {
  switch (rule.kind) {
    case 'requests':
    case 'concurrent':
      return 1;
    case 'tokens':
      if (neverFits(rule, estimate)) return estimate.certainTokens ?? 0;
      // An expected answer that is larger than the whole limit waits until nothing is used: it may come out shorter.
      return Math.min(estimate.tokens, rule.amount);
    case 'usd':
      if (rule.stops) return estimate.leastNanoUsd ?? estimate.nanoUsd ?? 0;
      return Math.min(estimate.nanoUsd ?? 0, rule.amount);
  }
}

/** Amount to reserve. Of a budget that stops answers it is at most what is left. */
export function reservedOf(rule: LimitRule, estimate: Estimate, left: number): number {
  if (rule.kind === 'tokens') return estimate.tokens;
  if (rule.kind !== 'usd') return 1;
  const expected = estimate.nanoUsd ?? 0;
  return rule.stops ? Math.min(expected, Math.max(left, neededOf(rule, estimate))) : expected;
}

/** Amount of a limit that a running request has used so far. */
export function amountOf(rule: LimitRule, spent: Spent): number {
  switch (rule.kind) {
    case 'requests':
      return spent.requests;
    case 'tokens':
      return spent.tokens;
    case 'concurrent':
      return 1;
    case 'usd':
      return spent.nanoUsd ?? 0;
  }
}

/** Amount of a limit that an ended request has used. */
export function finalOf(rule: LimitRule, spent: Spent | null, held: number): number {
  if (rule.kind === 'concurrent') return 0;
  // Unknown use is not zero: the estimate stays, unless such requests pass uncounted.
  if (!spent) return held;
  if (rule.kind === 'usd' && spent.nanoUsd === null) return rule.allowsUnpriced ? 0 : held;
  return amountOf(rule, spent);
}
