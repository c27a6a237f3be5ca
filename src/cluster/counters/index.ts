// Limits and budgets shared between processes.
export { SharedLimits, type SharedLimitsOptions, type Traffic } from './shared-limits.ts';
export { inTime, Reach } from './reach.ts';
