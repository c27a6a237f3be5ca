// Counts of the requests for one operation, by the model of one provider that answered, or by nobody.
import { cacheWriteTokens, type ErrorKind, outputTokens, type Usage } from '../../canonical/index.ts';
import type { AttemptRecord, GenerationRecord } from '../../accounts/ledger/index.ts';
import { taskOf } from '../../engine/index.ts';
import { nanoUsdOf, usdOf } from '../../accounts/limits/index.ts';
import { Histogram } from './histogram.ts';
import { METRICS } from './names.ts';
import type { LabelValues, Sample } from './reading.ts';
import { OTHER, type SeriesName, Tally } from './series-book.ts';

export class RequestSeries {
  readonly labels: LabelValues;
  /** The same and the operation in the words of the conventions. */
  readonly served: LabelValues;
  readonly statuses = new Tally<number>();
  readonly errors = new Tally<ErrorKind>();
  readonly tokens = new Tally<string>();
  readonly duration = new Histogram(METRICS.duration.buckets);
  readonly firstToken = new Histogram(METRICS.firstToken.buckets);
  readonly perToken = new Histogram(METRICS.perToken.buckets);
  /** Whole nano-dollars. */
  nanoUsd = 0;
  unpriced = 0;

  constructor({ api, provider, model }: SeriesName) {
    this.labels = { api, provider, model };
    this.served = { api, operation: operationOf(api), provider, model };
  }

  add(record: GenerationRecord): void {
    const { status, error, usage, cost, createdAt, endedAt } = record;
    this.statuses.add(status);
    if (error) this.errors.add(error.kind);
    this.duration.add((endedAt - createdAt) / 1000);
    if (record.streamed && record.firstContentAt !== null) this.#addStream(record, record.firstContentAt);
    if (usage) this.#addTokens(usage);
    if (cost?.usd === null) this.unpriced += 1;
    else if (cost) this.nanoUsd += nanoUsdOf(cost.usd);
  }

  #addStream({ createdAt, endedAt, usage }: GenerationRecord, firstContentAt: number): void {
    this.firstToken.add((firstContentAt - createdAt) / 1000);
    const tokens = usage ? outputTokens(usage) : 0;
    if (tokens > 1) this.perToken.add((endedAt - firstContentAt) / 1000 / (tokens - 1));
  }

  #addTokens(usage: Usage): void {
    const { input, output } = usage;
    this.#addClass('input', input.uncached);
    this.#addClass('input_cache_read', input.cacheRead);
    this.#addClass('input_cache_write', cacheWriteTokens(usage));
    this.#addClass('input_audio', input.audio);
    this.#addClass('input_image', input.image);
    this.#addClass('output', output.text);
    this.#addClass('output_reasoning', output.reasoning);
    this.#addClass('output_audio', output.audio);
  }

  #addClass(token: string, tokens: number): void {
    if (tokens > 0) this.tokens.add(token, tokens);
  }
}

/** `gen_ai.operation.name` of an operation (semantic-conventions-genai, client-inference.md, 2026-11). */
export function operationOf(api: string): string {
  const { facts } = taskOf(api);
  if (facts) return facts.name;
  return api === 'generateContent' || api === 'interactions' ? 'generate_content' : 'chat';
}

// Counts of the attempts at one model of one provider.

export class AttemptSeries {
  readonly labels: LabelValues;
  readonly outcomes = new Tally<AttemptRecord['outcome']>();
  readonly errors = new Tally<ErrorKind>();
  readonly duration = new Histogram(METRICS.attemptDuration.buckets);
  /** Times that another endpoint was tried after this one had failed, and that this one was tried again. */
  failovers = 0;
  retries = 0;

  constructor({ provider, model }: SeriesName) {
    this.labels = { provider, model };
  }

  add({ outcome, error, startedAt, endedAt }: AttemptRecord): void {
    this.outcomes.add(outcome);
    if (error) this.errors.add(error.kind);
    this.duration.add((endedAt - startedAt) / 1000);
  }
}

// Cost of the requests of each key. Bounded: keys beyond the first thousand are not told apart.

const MOST_KEYS = 1000;

interface KeyCost {
  readonly project: string;
  readonly key: string;
  /** Whole nano-dollars. */
  nanoUsd: number;
}

export class KeyCosts {
  /** By project and name of the key. */
  readonly #costs = new Map<string, Map<string, KeyCost>>();
  readonly #others: KeyCost = { project: OTHER, key: OTHER, nanoUsd: 0 };
  #size = 0;

  add(project: string, key: string, nanoUsd: number): void {
    (this.#costs.get(project)?.get(key) ?? this.#begin(project, key)).nanoUsd += nanoUsd;
  }

  *read(): Iterable<Sample> {
    for (const keys of this.#costs.values()) for (const cost of keys.values()) yield sampleOf(cost);
    if (this.#others.nanoUsd > 0) yield sampleOf(this.#others);
  }

  #begin(project: string, key: string): KeyCost {
    if (this.#size >= MOST_KEYS) return this.#others;
    this.#size += 1;
    let keys = this.#costs.get(project);
    if (!keys) this.#costs.set(project, (keys = new Map()));
    const cost = { project, key, nanoUsd: 0 };
    keys.set(key, cost);
    return cost;
  }
}

function sampleOf({ project, key, nanoUsd }: KeyCost): Sample {
  return { labels: { project, key }, value: usdOf(nanoUsd) };
}
