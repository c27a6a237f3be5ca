// Limits and budgets: what may be used in which time, and what of it is.
export type { Frees } from './counter.ts';
export { Limiter } from './limiter.ts';
export type { Demand, Standing } from './limiter.ts';
export { Limits } from './limits.ts';
export type { LimitSource, StandingFilter, Tenant, Written } from './limits.ts';
export { MOST_USD, nanoUsdOf, usdOf } from './money.ts';
export { limitText, refusalText } from './refusal.ts';
export type { Refusal } from './refusal.ts';
export { Reservation } from './reservation.ts';
export type { Spent } from './reservation.ts';
export { rulesOf } from './rule.ts';
export type { LimitEntry, LimitRule } from './rule.ts';
export { limitId, Scope } from './scope.ts';
export type { Limit, Owner } from './scope.ts';
export type { Claim, CounterStore, Holder, Lease } from './counter-store.ts';
export { MemoryCounterStore } from './memory-counter-store.ts';
export type { LedgerSum, LedgerSums, SumQuery } from './ledger-sums.ts';
export { restoreFromLedger } from './restore.ts';
