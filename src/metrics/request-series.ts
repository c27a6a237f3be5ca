// What is counted of the requests for one operation that one model of one provider answered, or nobody.
import { cacheWriteTokens, type ErrorKind, outputTokens, type Usage } from '../canonical/index.ts';
import type { GenerationRecord } from '../ledger/index.ts';
import { nanoUsdOf } from '../limits/index.ts';
import { Histogram } from './histogram.ts';
import { METRICS } from './names.ts';
import type { LabelValues } from './reading.ts';
import type { SeriesName } from './series-book.ts';
import { Tally } from './tally.ts';

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
  if (api === 'embeddings') return 'embeddings';
  return api === 'generateContent' || api === 'interactions' ? 'generate_content' : 'chat';
}
