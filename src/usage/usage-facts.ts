// What of one record goes into sums, and how it is counted there: the one place for both.
import type { JsonValue, Usage } from '../canonical/index.ts';
import { asNumber, asObject } from '../canonical/index.ts';
import { nanoUsdOf } from '../limits/index.ts';
import { latencyBucket } from './latency-buckets.ts';
import { type Cost, countedRequests, type GenerationRecord } from '../ledger/index.ts';
import { addNamed, type UsageCounts, type UsageSums } from './usage-sums.ts';

/** What one record says for sums. */
export interface UsageFacts {
  /** True for counts that came after the record of their request: they are no request. */
  readonly isLate: boolean;
  readonly errorKind: string | null;
  readonly cancelled: boolean;
  readonly attempts: number;
  readonly turns: number;
  /** Whether something was used for it, at whatever price. */
  readonly isCharged: boolean;
  readonly usage: Usage | null;
  /** USD; null when it is unknown. */
  readonly costUsd: number | null;
  readonly cacheSavedNanoUsd: number;
  readonly durationMs: number;
  /** Null where there was no content. */
  readonly firstContentMs: number | null;
}

/** @param isLate as in the facts */
export function usageFactsOf(g: GenerationRecord, isLate: boolean): UsageFacts {
  return {
    isLate,
    errorKind: g.error && g.error.kind,
    cancelled: g.cancelled,
    attempts: g.attempts,
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
  const { usage, errorKind, firstContentMs } = facts;
  if (usage) for (const tool in usage.tools) addNamed(details.tools, tool, whole(usage.tools[tool] ?? 0));
  if (facts.isLate) return;
  if (errorKind !== null) addNamed(details.errorKinds, errorKind, 1);
  increase(details.durations, latencyBucket(whole(facts.durationMs)));
  if (firstContentMs !== null) increase(details.firstContents, latencyBucket(whole(firstContentMs)));
}

/** Adds one record to sums without their details. */
export function countNumbers(counts: UsageCounts, facts: UsageFacts): void {
  const { usage, costUsd } = facts;
  if (usage) countTokens(counts, usage);
  if (costUsd !== null) counts.nano_usd += whole(nanoUsdOf(costUsd));
  // What was refused, or failed before anybody counted, cost nothing.
  else if (usage) counts.unpriced += 1;
  counts.cache_saved_nano_usd += whole(facts.cacheSavedNanoUsd);
  if (facts.isLate) return;
  counts.requests += 1;
  counts.attempts += facts.attempts;
  if (facts.cancelled) counts.cancelled += 1;
  if (facts.errorKind !== null) {
    counts.errors += 1;
    if (facts.isCharged) counts.charged_errors += 1;
  }
  const { turns, isCharged } = facts;
  const counted = countedRequests({ turns, isCharged, failed: facts.errorKind !== null });
  counts.tool_turns += Math.max(0, counted - 1);
  counts.duration_ms += whole(facts.durationMs);
  if (facts.firstContentMs === null) return;
  counts.first_contents += 1;
  counts.first_content_ms += whole(facts.firstContentMs);
}

function countTokens(counts: UsageCounts, { input, output, ...usage }: Usage): void {
  counts.input_uncached += whole(input.uncached);
  counts.input_cache_read += whole(input.cacheRead);
  counts.input_cache_write_5m += whole(input.cacheWrite5m);
  counts.input_cache_write_1h += whole(input.cacheWrite1h);
  counts.input_audio += whole(input.audio);
  counts.input_image += whole(input.image);
  counts.output_text += whole(output.text);
  counts.output_reasoning += whole(output.reasoning);
  counts.output_audio += whole(output.audio);
  counts.accepted_prediction += whole(usage.acceptedPrediction);
  counts.rejected_prediction += whole(usage.rejectedPrediction);
  if (usage.estimated) counts.estimated += 1;
}

/**
 * What reading from caches saved: the price of as much other input, less what it cost. 0 where prices are unknown, or were
 * several.
 */
export function cacheSavedNanoUsd(usage: Usage | null, cost: Pick<Cost, 'items' | 'price'> | null): number {
  if (!usage || usage.input.cacheRead === 0 || !cost) return 0;
  const paid = cost.items['cache_read'];
  const rate = inputRateOf(cost.price);
  if (paid === undefined || rate === undefined) return 0;
  return nanoUsdOf((usage.input.cacheRead * rate) / 1e6 - paid);
}

/** USD per million tokens. Besides those of models, a list has the prices of the gateway's own tools. */
function inputRateOf(price: JsonValue): number | undefined {
  if (!Array.isArray(price)) return asNumber(asObject(price)['input']);
  const rates = price.map((each) => asNumber(asObject(each)['input'])).filter((rate) => rate !== undefined);
  return rates.length === 1 ? rates[0] : undefined;
}

/** What a sum takes: upstreams send numbers of any kind, and clocks go back. */
function whole(count: number): number {
  return Number.isFinite(count) ? Math.min(Math.max(0, Math.round(count)), Number.MAX_SAFE_INTEGER) : 0;
}

function increase(counts: number[], bucket: number): void {
  while (counts.length <= bucket) counts.push(0);
  counts[bucket] = (counts[bucket] ?? 0) + 1;
}
