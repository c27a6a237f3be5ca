// Sums over records: what they count, and how a record is counted in them.
export * from './latency-buckets.ts';
export * from './usage-facts.ts';
export * from './usage-sums.ts';
export * from './usage-entry.ts';
export * from './end-user-entry.ts';
export * from './usage-intervals.ts';
