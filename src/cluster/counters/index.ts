// Limits and budgets that several processes share.
export { SharedLimits, type SharedLimitsOptions, type Traffic } from './shared-limits.ts';
export { inTime, Reach } from './reach.ts';
