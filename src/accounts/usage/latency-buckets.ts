// Buckets of times, so that sums of an hour still know their percentiles: fixed, four to a doubling, from 1 millisecond to
// 70 minutes. A percentile of them is at most a fifth too high, never too low. Their borders are stored: they stay.

const PER_DOUBLING = 4;
const DOUBLINGS = 22;

/** Number of buckets; the last one has what took longer than all others say. */
const LATENCY_BUCKETS = PER_DOUBLING * DOUBLINGS + 2;

/** Requests by the number of their bucket. */
export type LatencyCounts = number[];

/** The bucket of a time: 0 for a millisecond or less. */
export function latencyBucket(ms: number): number {
  if (!(ms > 1)) return 0;
  return Math.min(LATENCY_BUCKETS - 1, Math.ceil(Math.log2(ms) * PER_DOUBLING));
}

/** The longest time of a bucket, in milliseconds; infinite for the last one. */
function latencyBound(bucket: number): number {
  return bucket >= LATENCY_BUCKETS - 1 ? Infinity : 2 ** (bucket / PER_DOUBLING);
}

/**
 * The time that a share of the requests did not exceed, in milliseconds, rounded up to the border of its bucket.
 * @param share between 0 and 1
 * @returns null where nothing was counted; infinite where it is longer than all borders
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
