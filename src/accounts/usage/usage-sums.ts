// Sums over many requests, for reports, budgets and charts. Whole numbers, so that the order of additions does not
// matter.
import type { LatencyCounts } from './latency-buckets.ts';

/**
 * Names of sums in tables, JSON and CSV. Token counts are disjoint, as in `Usage`.
 * `requests`: requests of clients. Deferred usage adds tokens and money, but no request.
 * `errors`: requests that ended with an error: `failed` because of a provider or the gateway, `refused` because of a
 * limit, a permission or the request itself. `charged_errors`: those that were charged.
 * `cancelled`: the client disconnected. `tool_turns`: turns of models after the first of an answer.
 * `attempts`: attempts, each counted at its endpoint. `failed_attempts`: those that failed through no fault of the
 * request.
 * `estimated`: records whose tokens the gateway estimated, because the upstream sent no counts.
 * `nano_usd`: whole nano-dollars, rounded per record. `unpriced`: records with tokens of unknown cost, which add
 * nothing.
 * `cache_saved_nano_usd`: price of the tokens read from caches as uncached input, less their actual cost. 0 if prices
 * differ between the turns of an answer.
 * `duration_ms`: from arrival to end. `first_content_ms`: from arrival to the first content, of the `first_contents`
 * requests that were streamed until then.
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

/** A map, because upstreams choose some of the names. */
export type NamedCounts = Map<string, number>;

/** Counts by name or by bucket. */
export interface UsageDetails {
  /** Requests that ended with an error, by error kind. */
  readonly errorKinds: NamedCounts;
  /** Uses of tools that are billed per use, by name. */
  readonly tools: NamedCounts;
  /** Requests by bucket of `duration_ms` and `first_content_ms`. */
  readonly durations: LatencyCounts;
  readonly firstContents: LatencyCounts;
}

export interface UsageSums {
  readonly counts: UsageCounts;
  readonly details: UsageDetails;
}

/** Selection of sums. */
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

/** Adds `from` to `to`, which the caller must own. */
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

/** Maximum number of names; further ones are counted as `other`, because upstreams can invent tools. */
const MOST_NAMES = 64;
const OTHERS = 'other';

/** Adds a count under a name. */
export function addNamed(to: NamedCounts, name: string, count: number): void {
  const counted = to.has(name) || to.size < MOST_NAMES ? name : OTHERS;
  to.set(counted, (to.get(counted) ?? 0) + count);
}

/** Adds a count to a bucket. */
export function addBucket(to: LatencyCounts, bucket: number, count: number): void {
  while (to.length <= bucket) to.push(0);
  to[bucket] = (to[bucket] ?? 0) + count;
}

/** Number of requests as counted by limits: each turn of an answer, without uncharged failures. */
export function countedRequestsIn({
  requests,
  errors,
  charged_errors: charged,
  tool_turns: turns,
}: Pick<UsageCounts, 'requests' | 'errors' | 'charged_errors' | 'tool_turns'>): number {
  return requests - errors + charged + turns;
}

/** All input tokens. */
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

/** All output tokens, including reasoning. */
export function outputTokensIn(counts: UsageCounts): number {
  return counts.output_text + counts.output_reasoning + counts.output_audio;
}

const NO_COUNTS = Object.fromEntries(USAGE_COUNTS.map((name) => [name, 0])) as UsageCounts;

export function noUsageCounts(): UsageCounts {
  return { ...NO_COUNTS };
}
