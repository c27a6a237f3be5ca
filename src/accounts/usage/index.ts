// Usage: sums over records, and the counts of one record.
export * from './latency-buckets.ts';
export * from './usage-facts.ts';
export * from './usage-sums.ts';
export * from './usage-entry.ts';
export * from './end-user-entry.ts';
export * from './usage-intervals.ts';
