// Leases: how the processes of one gateway share limits and budgets.
export { Leases } from './leases.ts';
export type { LeasesOptions, LeaseTraffic } from './leases.ts';
export { Reach } from './reach.ts';
