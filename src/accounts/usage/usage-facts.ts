// Facts of a record that are summed, and how they are added. All sums use this file.
import type { JsonValue } from '../../base/json/index.ts';
import type { Usage } from '../../canonical/index.ts';
import { asNumber, asObject } from '../../base/json/index.ts';
import { nanoUsdOf } from '../limits/index.ts';
import { latencyBucket } from './latency-buckets.ts';
import {
  type AttemptRecord,
  attemptOutcome,
  type Cost,
  countedRequests,
  type GenerationRecord,
  type Outcome,
  outcomeOf,
} from '../ledger/index.ts';
import { addBucket, addNamed, type UsageCounts, type UsageDetails, type UsageSums } from './usage-sums.ts';
import type { DurationMs } from '../../base/units.ts';

/** Facts of one record for sums. */
export interface UsageFacts {
  /** True for deferred usage, which does not count as a request. */
  readonly isLate: boolean;
  readonly errorKind: string | null;
  readonly outcome: Outcome;
  readonly cancelled: boolean;
  readonly turns: number;
  /** True when an upstream charged for it, at any price. */
  readonly isCharged: boolean;
  readonly usage: Usage | null;
  /** USD; null: unknown. */
  readonly costUsd: number | null;
  readonly cacheSavedNanoUsd: number;
  readonly durationMs: DurationMs;
  /** Null: there was no content. */
  readonly firstContentMs: DurationMs | null;
}

/** @param isLate as in `UsageFacts` */
export function usageFactsOf(
  g: GenerationRecord,
  attempts: readonly Pick<AttemptRecord, 'outcome'>[],
  isLate: boolean,
): UsageFacts {
  return {
    isLate,
    errorKind: g.error && g.error.kind,
    outcome: outcomeOf(g, attempts),
    cancelled: g.cancelled,
    turns: g.turns,
    isCharged: g.usage !== null || g.cost !== null,
    usage: g.usage,
    costUsd: g.cost && g.cost.usd,
    cacheSavedNanoUsd: cacheSavedNanoUsd(g.usage, g.cost),
    durationMs: g.endedAt - g.createdAt,
    firstContentMs: g.firstContentAt === null ? null : g.firstContentAt - g.createdAt,
  };
}

/** Adds one record to sums. */
export function countFacts({ counts, details }: UsageSums, facts: UsageFacts): void {
  countNumbers(counts, facts);
  eachDetail(facts, (of, name, count) => {
    if (of === 'durations' || of === 'firstContents') addBucket(details[of], Number(name), count);
    else addNamed(details[of], String(name), count);
  });
}

/** Reports what a record adds to the counts by name or by bucket. */
export function eachDetail(
  facts: UsageFacts,
  add: (of: keyof UsageDetails, name: string | number, count: number) => void,
): void {
  const { usage, errorKind, firstContentMs } = facts;
  if (usage)
    for (const tool in usage.tools) {
      const uses = wholeCount(usage.tools[tool] ?? 0);
      if (uses > 0) add('tools', tool, uses);
    }
  if (facts.isLate) return;
  if (errorKind !== null) add('errorKinds', errorKind, 1);
  add('durations', latencyBucket(wholeCount(facts.durationMs)), 1);
  if (firstContentMs !== null) add('firstContents', latencyBucket(wholeCount(firstContentMs)), 1);
}

/** Adds one record to sums, without details. */
export function countNumbers(counts: UsageCounts, facts: UsageFacts): void {
  const { usage, costUsd } = facts;
  if (usage) countTokens(counts, usage);
  if (costUsd !== null) counts.nano_usd += wholeCount(nanoUsdOf(costUsd));
  // Requests without usage were refused or failed early, and cost nothing.
  else if (usage) counts.unpriced += 1;
  counts.cache_saved_nano_usd += wholeCount(facts.cacheSavedNanoUsd);
  if (facts.isLate) return;
  counts.requests += 1;
  if (facts.outcome === 'failed') counts.failed += 1;
  if (facts.outcome === 'refused') counts.refused += 1;
  if (facts.cancelled) counts.cancelled += 1;
  if (facts.errorKind !== null) {
    counts.errors += 1;
    if (facts.isCharged) counts.charged_errors += 1;
  }
  const { turns, isCharged } = facts;
  const counted = countedRequests({ turns, isCharged, failed: facts.errorKind !== null });
  counts.tool_turns += Math.max(0, counted - 1);
  counts.duration_ms += wholeCount(facts.durationMs);
  if (facts.firstContentMs === null) return;
  counts.first_contents += 1;
  counts.first_content_ms += wholeCount(facts.firstContentMs);
}

/** Adds one attempt to the sums of its endpoint. */
export function countAttempt(counts: UsageCounts, attempt: Pick<AttemptRecord, 'outcome' | 'error'>): void {
  counts.attempts += 1;
  if (attemptOutcome(attempt) === 'failed') counts.failed_attempts += 1;
}

function countTokens(counts: UsageCounts, { input, output, ...usage }: Usage): void {
  counts.input_uncached += wholeCount(input.uncached);
  counts.input_cache_read += wholeCount(input.cacheRead);
  counts.input_cache_write_5m += wholeCount(input.cacheWrite5m);
  counts.input_cache_write_1h += wholeCount(input.cacheWrite1h);
  counts.input_audio += wholeCount(input.audio);
  counts.input_image += wholeCount(input.image);
  counts.output_text += wholeCount(output.text);
  counts.output_reasoning += wholeCount(output.reasoning);
  counts.output_audio += wholeCount(output.audio);
  counts.accepted_prediction += wholeCount(usage.acceptedPrediction);
  counts.rejected_prediction += wholeCount(usage.rejectedPrediction);
  if (usage.estimated) counts.estimated += 1;
}

/** All tokens of a usage, as counted in sums. */
export function countedTokens({ input: i, output: o }: Usage): number {
  const counts = [i.uncached, i.cacheRead, i.cacheWrite5m, i.cacheWrite1h, i.audio, i.image];
  return [...counts, o.text, o.reasoning, o.audio].reduce((sum, count) => sum + wholeCount(count), 0);
}

/**
 * Money saved by cache reads: the price of the same tokens as uncached input, less their actual cost. 0 if the prices
 * are unknown or differ.
 */
function cacheSavedNanoUsd(usage: Usage | null, cost: Pick<Cost, 'items' | 'price'> | null): number {
  if (!usage || usage.input.cacheRead === 0 || !cost) return 0;
  const paid = cost.items['cache_read'];
  const rate = inputRateOf(cost.price);
  if (paid === undefined || rate === undefined) return 0;
  return nanoUsdOf((usage.input.cacheRead * rate) / 1e6 - paid);
}

/**
 * Price of uncached input in USD per million tokens; undefined: unknown, or several. A list can also contain prices
 * of the gateway's own tools.
 */
function inputRateOf(price: JsonValue): number | undefined {
  if (!Array.isArray(price)) return asNumber(asObject(price)['input']);
  const rates = price.map((each) => asNumber(asObject(each)['input'])).filter((rate) => rate !== undefined);
  return rates.length === 1 ? rates[0] : undefined;
}

/** Sanitized count, because upstreams send arbitrary numbers and clocks are set back. */
export function wholeCount(count: number): number {
  return Number.isFinite(count) ? Math.min(Math.max(0, Math.round(count)), Number.MAX_SAFE_INTEGER) : 0;
}
