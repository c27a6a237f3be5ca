// Metrics of completed requests, counted from their records. Known labels cause no allocations.
import { type FinishedRequest, type RequestObserver, taskOf } from '../../engine/index.ts';
import { type AttemptRecord, type GenerationRecord, placeOf } from '../../accounts/ledger/index.ts';
import { nanoUsdOf, usdOf } from '../../accounts/limits/index.ts';
import { type Distribution, type LabelValues, type Readings, type Sample, single } from './reading.ts';
import { cacheWriteTokens, type ErrorKind, outputTokens, type Usage } from '../../canonical/index.ts';
import { Histogram } from './histogram.ts';
import { type Label, METRICS } from './names.ts';
import type { UnixMs } from '../../base/units.ts';

/** Provider label of requests that were not sent to any provider. */
const NO_PROVIDER = 'none';

/** Metrics derived from records of requests. */
type OfRequests =
  | 'requests'
  | 'errors'
  | 'duration'
  | 'firstToken'
  | 'perToken'
  | 'tokens'
  | 'cost'
  | 'unpriced'
  | 'keyCost'
  | 'attempts'
  | 'attemptErrors'
  | 'attemptDuration'
  | 'failovers'
  | 'retries'
  | 'limitRefusals'
  | 'unrecorded';

export class RequestMetrics implements RequestObserver {
  readonly #requests: SeriesBook<RequestSeries>;
  readonly #attempts: SeriesBook<AttemptSeries>;
  readonly #keys = new KeyCosts();
  readonly #refusals = new Tally<'rate' | 'budget'>();
  #unrecorded = 0;

  /** @param listedAs returns the id of a listed model for any of its names; null for all other names */
  constructor(listedAs: (model: string) => string | null) {
    this.#requests = new SeriesBook(listedAs, (name) => new RequestSeries(name));
    this.#attempts = new SeriesBook(listedAs, (name) => new AttemptSeries(name));
  }

  finished({ generation, attempts, models, principal, unrecorded }: FinishedRequest): void {
    const { model, requestedModel, api, cost, projectId } = generation;
    const { provider } = placeOf(generation, attempts);
    this.#requests.of(model ?? requestedModel, provider ?? NO_PROVIDER, api).add(generation);
    this.#addAttempts(attempts, models);
    if (cost?.usd) this.#keys.add(projectId, principal.name, nanoUsdOf(cost.usd));
    this.#addRefusal(generation);
    if (unrecorded !== undefined) this.#unrecorded += 1;
  }

  /** Errors without an upstream status are refusals by the gateway itself. */
  #addRefusal({ error, attempts }: GenerationRecord): void {
    if (!error || error.upstreamStatus !== null) return;
    if (error.kind === 'quota') this.#refusals.add('budget');
    else if (error.kind === 'rate_limited' && attempts === 0) this.#refusals.add('rate');
  }

  #addAttempts(attempts: readonly AttemptRecord[], models: readonly string[]): void {
    let failedAt: string | undefined;
    let failed: AttemptSeries | undefined;
    for (let at = 0; at < attempts.length; at++) {
      const attempt = attempts[at];
      if (!attempt) continue;
      const series = this.#attempts.of(models[at] ?? '', attempt.provider, '');
      series.add(attempt);
      if (failed && failedAt === attempt.endpoint) failed.retries += 1;
      else if (failed) failed.failovers += 1;
      failed = attempt.outcome === 'failed' ? series : undefined;
      failedAt = attempt.endpoint;
    }
  }

  readonly readings: Pick<Readings, OfRequests> = {
    requests: () => this.#requests.all.flatMap((each) => [...each.statuses.under('status', each.labels)]),
    errors: () => this.#requests.all.flatMap((each) => [...each.errors.under('error', each.labels)]),
    duration: () => this.#served(({ duration }) => duration),
    firstToken: () => this.#served(({ firstToken }) => firstToken),
    perToken: () => this.#served(({ perToken }) => perToken),
    tokens: () => this.#requests.all.flatMap((each) => [...each.tokens.under('token', each.labels)]),
    cost: () => this.#requests.all.map(({ labels, nanoUsd }) => ({ labels, value: usdOf(nanoUsd) })),
    unpriced: () => this.#requests.all.map(({ labels, unpriced }) => ({ labels, value: unpriced })),
    keyCost: () => this.#keys.read(),
    attempts: () => this.#attempts.all.flatMap((each) => [...each.outcomes.under('outcome', each.labels)]),
    attemptErrors: () => this.#attempts.all.flatMap((each) => [...each.errors.under('error', each.labels)]),
    attemptDuration: () =>
      this.#attempts.all.map(({ labels, duration }) => ({ labels, histogram: duration })),
    failovers: () => this.#attemptSamples(({ failovers }) => failovers),
    retries: () => this.#attemptSamples(({ retries }) => retries),
    limitRefusals: () => this.#refusals.under('reason', {}),
    unrecorded: () => single(this.#unrecorded),
  };

  #served(of: (series: RequestSeries) => Distribution['histogram']): readonly Distribution[] {
    return this.#requests.all.map((series) => ({ labels: series.served, histogram: of(series) }));
  }

  #attemptSamples(of: (series: AttemptSeries) => number): readonly Sample[] {
    return this.#attempts.all.map((series) => ({ labels: series.labels, value: of(series) }));
  }
}

// Requests for one operation, by the model and provider that answered, if any.

class RequestSeries {
  readonly labels: LabelValues;
  /** Same as `labels`, with the operation name of the conventions. */
  readonly served: LabelValues;
  readonly statuses = new Tally<number>();
  readonly errors = new Tally<ErrorKind>();
  readonly tokens = new Tally<string>();
  readonly duration = new Histogram(METRICS.duration.buckets);
  readonly firstToken = new Histogram(METRICS.firstToken.buckets);
  readonly perToken = new Histogram(METRICS.perToken.buckets);
  /** Integer nano-dollars. */
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

  #addStream({ createdAt, endedAt, usage }: GenerationRecord, firstContentAt: UnixMs): void {
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

// Attempts at one model of one provider.

class AttemptSeries {
  readonly labels: LabelValues;
  readonly outcomes = new Tally<AttemptRecord['outcome']>();
  readonly errors = new Tally<ErrorKind>();
  readonly duration = new Histogram(METRICS.attemptDuration.buckets);
  /** Times that another endpoint, or the same one again, was tried after a failure here. */
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

// Cost by key. Bounded: all keys after the first thousand share one entry.

const MOST_KEYS = 1000;

interface KeyCost {
  readonly project: string;
  readonly key: string;
  /** Integer nano-dollars. */
  nanoUsd: number;
}

class KeyCosts {
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

// Series by model, provider and API, found without building a string per request. Bounded, because clients choose names
// freely.

/** Label of all models that are not counted separately. */
const OTHER = 'other';
/** Maximum number of series per kind. Further models are counted as `other`. */
const MOST_SERIES = 500;

/** Dimensions of a series. */
export interface SeriesName {
  readonly model: string;
  readonly provider: string;
  /** Empty if the series does not distinguish APIs. */
  readonly api: string;
}

class SeriesBook<Series> {
  readonly all: Series[] = [];
  readonly #listedAs: (model: string) => string | null;
  readonly #make: (labels: LabelValues & SeriesName) => Series;
  readonly #byApi = new Map<string, Map<string, Map<string, Series>>>();

  /** @param listedAs returns the id of a listed model for any of its names; null for all other names */
  constructor(
    listedAs: (model: string) => string | null,
    make: (labels: LabelValues & SeriesName) => Series,
  ) {
    this.#listedAs = listedAs;
    this.#make = make;
  }

  /** Series of a model; that of `other` if the model is not listed. */
  of(model: string, provider: string, api: string): Series {
    const known = this.#find(model, provider, api);
    if (known) return known;
    const name = (this.all.length < MOST_SERIES ? this.#listedAs(model) : null) ?? OTHER;
    return this.#find(name, provider, api) ?? this.#add({ model: name, provider, api });
  }

  #find(model: string, provider: string, api: string): Series | undefined {
    return this.#byApi.get(api)?.get(provider)?.get(model);
  }

  #add(name: SeriesName): Series {
    const series = this.#make(name);
    const { model, provider, api } = name;
    let byProvider = this.#byApi.get(api);
    if (!byProvider) this.#byApi.set(api, (byProvider = new Map()));
    let byModel = byProvider.get(provider);
    if (!byModel) byProvider.set(provider, (byModel = new Map()));
    byModel.set(model, series);
    this.all.push(series);
    return series;
  }
}

// Counts by a small set of words or numbers.

class Tally<Key extends string | number> {
  readonly #counts = new Map<Key, number>();

  add(key: Key, by = 1): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + by);
  }

  /** Counts as samples, with the key as an additional label. */
  *under(label: Label, labels: LabelValues): Iterable<Sample> {
    for (const [key, value] of this.#counts) yield { labels: { ...labels, [label]: String(key) }, value };
  }
}
