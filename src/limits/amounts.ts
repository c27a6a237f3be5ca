// How much of a limit a request needs, takes and has used: requests, tokens or nano-dollars.
import type { Spent } from './reservation.ts';
import type { LimitRule } from './rule.ts';

/** What a request is expected to use. */
export interface Demand {
  readonly model: string;
  /** Hash of the end user; null: the request names none. */
  readonly endUser: string | null;
  /** Input, and the output that is expected. */
  readonly tokens: number;
  /** What that costs; null: the price is unknown. */
  readonly nanoUsd: number | null;
  /** What a budget must have left for the request to begin, where a running answer is stopped when it is spent. Default: `nanoUsd`. */
  readonly leastNanoUsd?: number | undefined;
}

/** What must be left of a limit for a request to begin. */
export function neededOf(rule: LimitRule, demand: Demand): number {
  switch (rule.kind) {
    case 'requests':
    case 'concurrent':
      return 1;
    case 'tokens':
      // One that is larger than the whole limit waits until nothing of it is used: it could never run otherwise.
      return Math.min(demand.tokens, rule.amount);
    case 'usd':
      if (rule.stops) return demand.leastNanoUsd ?? demand.nanoUsd ?? 0;
      return Math.min(demand.nanoUsd ?? 0, rule.amount);
  }
}

/** What is reserved: of a budget that stops answers no more than is left. */
export function reservedOf(rule: LimitRule, demand: Demand, left: number): number {
  if (rule.kind === 'tokens') return demand.tokens;
  if (rule.kind !== 'usd') return 1;
  const expected = demand.nanoUsd ?? 0;
  return rule.stops ? Math.min(expected, Math.max(left, neededOf(rule, demand))) : expected;
}

/** What a running request has used of a limit so far. */
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

/** What a request that ended has used of a limit. */
export function finalOf(rule: LimitRule, spent: Spent | null, held: number): number {
  if (rule.kind === 'concurrent') return 0;
  // What nobody can say is not nothing: the estimate stays, unless such requests are to pass uncounted.
  if (!spent) return held;
  if (rule.kind === 'usd' && spent.nanoUsd === null) return rule.allowsUnpriced ? 0 : held;
  return amountOf(rule, spent);
}
