// Histogram buckets of latencies, for percentiles of sums: four per doubling, from 1 ms to 70 minutes. A percentile is at
// most 20 % too high, and never too low. The bounds are part of the storage format.

const PER_DOUBLING = 4;
const DOUBLINGS = 22;

/** Number of buckets. The last one has no upper bound. */
const LATENCY_BUCKETS = PER_DOUBLING * DOUBLINGS + 2;

/** Number of requests per bucket. */
export type LatencyCounts = number[];

/** Bucket of a latency; 0: at most 1 ms. */
export function latencyBucket(ms: number): number {
  if (!(ms > 1)) return 0;
  return Math.min(LATENCY_BUCKETS - 1, Math.ceil(Math.log2(ms) * PER_DOUBLING));
}

/** Upper bound of a bucket in milliseconds; Infinity for the last one. */
function latencyBound(bucket: number): number {
  return bucket >= LATENCY_BUCKETS - 1 ? Infinity : 2 ** (bucket / PER_DOUBLING);
}

/**
 * Percentile in milliseconds, rounded up to the bound of its bucket.
 * @param share 0 to 1
 * @returns null: no requests; Infinity: beyond all bounds
 */
export function latencyAt(share: number, counts: LatencyCounts): number | null {
  const total = counts.reduce((sum, count) => sum + (count ?? 0), 0);
  if (total === 0) return null;
  let left = Math.max(1, Math.ceil(share * total));
  for (let bucket = 0; bucket < counts.length; bucket += 1) {
    left -= counts[bucket] ?? 0;
    if (left <= 0) return latencyBound(bucket);
  }
  return Infinity;
}
