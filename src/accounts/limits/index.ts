// Limits and budgets: rules, counters, admission and settlement.
export type { GrantRequest, Shared, Sharing } from './sharing.ts';
export type { Counter, Slot } from './counter.ts';
export { LEAST } from './check.ts';
export { Limiter } from './limiter.ts';
export type { Estimate } from './amounts.ts';
export type { LimitUsage } from './limiter.ts';
export { limitWords, parseLimit } from './limit-words.ts';
export { Limits } from './limits.ts';
export type { LimitSource, Tenant, Written } from './limits.ts';
export { MOST_USD, nanoUsdOf, usdOf } from './money.ts';
export { isHopeless, limitText, refusalText } from './refusal.ts';
export type { Refusal } from './refusal.ts';
export { requiredAmount, Reservation } from './reservation.ts';
export type { Spent } from './reservation.ts';
export { countsAlike, MOST_LIMITS, rulesOf } from './rule.ts';
export type { LimitEntry, LimitRule } from './rule.ts';
export { limitId, OWNER_KINDS, Scope } from './scope.ts';
export type { Limit, Owner } from './scope.ts';
export type {
  Answered,
  Caller,
  Cell,
  CounterPeriod,
  CounterStore,
  Keeping,
  LedgerPart,
  LedgerWord,
  Wanted,
} from './counter-store.ts';
export { LEASE_MS } from './counter-store.ts';
export { MemoryCounterStore } from './memory-counter-store.ts';
export type { LedgerSum, LedgerSums, SumQuery } from './ledger-sums.ts';
export { restoreFromLedger } from './restore.ts';
export { spentOf } from './spent-of.ts';
export { RestoredLimits } from './restored-limits.ts';
export { Calendar } from './window.ts';
