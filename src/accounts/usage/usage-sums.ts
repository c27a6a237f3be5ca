// Sums over many requests, those that reports, budgets and charts are made of. Whole numbers, so that adding them
// up in any order gives the same.
import type { LatencyCounts } from './latency-buckets.ts';

/**
 * Sums, under the names that they have in tables, JSON and CSV. Tokens partition, as in `Usage`: none is counted twice.
 * `requests`: those of clients; counts that came late for one add tokens and money, but no request.
 * `charged_errors`: those of the errors that were charged all the same; `tool_turns`: turns of models after the first of an
 * answer.
 * `errors`: those of `requests` that ended with an error, `failed` where a provider or the gateway was at fault, `refused` where a
 * limit, a permission or the request itself stood against it. `attempts`: tries, each counted where it was made, and
 * `failed_attempts` those of them that failed by no fault of the request.
 * `cancelled`: whose client had left; `estimated`: whose tokens the gateway counted, because nobody else did.
 * `nano_usd`: whole nano-dollars, rounded for each record; `unpriced`: records with tokens whose cost is unknown, which
 * add none.
 * `cache_saved_nano_usd`: what the tokens that were read from caches would have cost as other input, less what they cost;
 * where the prices differ between the turns of an answer, nothing.
 * `duration_ms`: from arrival to end; `first_content_ms`: from arrival to the first content, of `first_contents` requests
 * that were streamed so far.
 */
export const USAGE_COUNTS = [
  'requests',
  'errors',
  'failed',
  'refused',
  'cancelled',
  'attempts',
  'failed_attempts',
  'charged_errors',
  'tool_turns',
  'input_uncached',
  'input_cache_read',
  'input_cache_write_5m',
  'input_cache_write_1h',
  'input_audio',
  'input_image',
  'output_text',
  'output_reasoning',
  'output_audio',
  'accepted_prediction',
  'rejected_prediction',
  'estimated',
  'nano_usd',
  'unpriced',
  'cache_saved_nano_usd',
  'duration_ms',
  'first_content_ms',
  'first_contents',
] as const;

export type UsageCount = (typeof USAGE_COUNTS)[number];
export type UsageCounts = Record<UsageCount, number>;

/** A map and no object: upstreams choose some of the names. */
export type NamedCounts = Map<string, number>;

/** Counts by name, or by bucket. */
export interface UsageDetails {
  /** Requests that failed, by the kind of their error. */
  readonly errorKinds: NamedCounts;
  /** Uses of tools that are billed by use, by name. */
  readonly tools: NamedCounts;
  /** Requests by bucket of `duration_ms` and of `first_content_ms`. */
  readonly durations: LatencyCounts;
  readonly firstContents: LatencyCounts;
}

export interface UsageSums {
  readonly counts: UsageCounts;
  readonly details: UsageDetails;
}

/** Some of what sums have. */
export interface WantedSums {
  readonly counts: readonly UsageCount[];
  readonly details: boolean;
}

export const ALL_SUMS: WantedSums = { counts: USAGE_COUNTS, details: true };

export function noUsageSums(): UsageSums {
  return { counts: noUsageCounts(), details: noUsageDetails() };
}

export function noUsageDetails(): UsageDetails {
  return { errorKinds: new Map(), tools: new Map(), durations: [], firstContents: [] };
}

/** Adds to sums that are the caller's own. */
export function addUsageSums(to: UsageSums, from: UsageSums): void {
  addCounts(to.counts, from.counts);
  addUsageDetails(to.details, from.details);
}

export function addCounts(to: UsageCounts, from: UsageCounts): void {
  for (const name of USAGE_COUNTS) to[name] += from[name];
}

function addUsageDetails(to: UsageDetails, from: UsageDetails): void {
  for (const [kind, count] of from.errorKinds) addNamed(to.errorKinds, kind, count);
  for (const [tool, count] of from.tools) addNamed(to.tools, tool, count);
  from.durations.forEach((count, bucket) => addBucket(to.durations, bucket, count));
  from.firstContents.forEach((count, bucket) => addBucket(to.firstContents, bucket, count));
}

/** Names beyond these are counted together: an upstream may invent as many tools as it likes. */
const MOST_NAMES = 64;
const OTHERS = 'other';

/** Adds a count to one of a few names. */
export function addNamed(to: NamedCounts, name: string, count: number): void {
  const counted = to.has(name) || to.size < MOST_NAMES ? name : OTHERS;
  to.set(counted, (to.get(counted) ?? 0) + count);
}

/** Adds a count to a bucket. */
export function addBucket(to: LatencyCounts, bucket: number, count: number): void {
  while (to.length <= bucket) to.push(0);
  to[bucket] = (to[bucket] ?? 0) + count;
}

/** Requests as limits count them: each turn of an answer, and nothing of what failed and was not charged. */
export function countedRequestsIn({
  requests,
  errors,
  charged_errors: charged,
  tool_turns: turns,
}: Pick<UsageCounts, 'requests' | 'errors' | 'charged_errors' | 'tool_turns'>): number {
  return requests - errors + charged + turns;
}

/** All input tokens of sums. */
export function inputTokensIn(counts: UsageCounts): number {
  return (
    counts.input_uncached +
    counts.input_cache_read +
    counts.input_cache_write_5m +
    counts.input_cache_write_1h +
    counts.input_audio +
    counts.input_image
  );
}

/** All output tokens of sums, reasoning included. */
export function outputTokensIn(counts: UsageCounts): number {
  return counts.output_text + counts.output_reasoning + counts.output_audio;
}

const NO_COUNTS = Object.fromEntries(USAGE_COUNTS.map((name) => [name, 0])) as UsageCounts;

export function noUsageCounts(): UsageCounts {
  return { ...NO_COUNTS };
}
