// Amounts of a limit (requests, tokens or nano-dollars) that a request needs, reserves and has used.
import type { Spent } from './reservation.ts';
import type { LimitRule } from './rule.ts';

/** Estimated usage of a request. */
export interface Estimate {
  readonly model: string;
  /** Hash of the end user; null: none. */
  readonly endUser: string | null;
  /** Input tokens and expected output tokens. */
  readonly tokens: number;
  /** Tokens that the request itself asks for: its input, and the client's maximum output. Absent: unknown. */
  readonly certainTokens?: number | undefined;
  /** Cost in nano-dollars. Null: the price is unknown. */
  readonly nanoUsd: number | null;
  /**
   * Nano-dollars that must remain in a budget for the request to begin, if running answers stop at a spent budget.
   * Default: `nanoUsd`.
   */
  readonly leastNanoUsd?: number | undefined;
}

/** True if a request asks for more tokens than the whole limit, and the limit does not allow that. */
export function exceedsLimit({ kind, amount, allowsTooLarge }: LimitRule, estimate: Estimate): boolean {
  return kind === 'tokens' && !allowsTooLarge && (estimate.certainTokens ?? 0) > amount;
}

/** Amount that must remain in a limit for a request to begin. */
export function neededOf(rule: LimitRule, estimate: Estimate): number {
  switch (rule.kind) {
    case 'requests':
    case 'concurrent':
      return 1;
    case 'tokens':
      if (exceedsLimit(rule, estimate)) return estimate.certainTokens ?? 0;
      // If the expected answer exceeds the whole limit, the request waits until nothing is used. It may be shorter.
      return Math.min(estimate.tokens, rule.amount);
    case 'usd':
      if (rule.stops) return estimate.leastNanoUsd ?? estimate.nanoUsd ?? 0;
      return Math.min(estimate.nanoUsd ?? 0, rule.amount);
  }
}

/** Amount to reserve. If the budget stops running answers, at most the remaining amount. */
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

/** Amount of a limit that a finished request has used. */
export function finalOf(rule: LimitRule, spent: Spent | null, held: number): number {
  if (rule.kind === 'concurrent') return 0;
  // Unknown usage is not zero: the estimate is charged, unless the limit lets such requests pass uncounted.
  if (!spent) return held;
  if (rule.kind === 'usd' && spent.nanoUsd === null) return rule.allowsUnpriced ? 0 : held;
  return amountOf(rule, spent);
}
