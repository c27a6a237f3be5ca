// Counts every request that is over, from its records: a few sums in memory, and nothing new for labels that it has seen.
import type { Settlement, SettlementObserver } from '../../engine/index.ts';
import { type AttemptRecord, type GenerationRecord, placeOf } from '../../accounts/ledger/index.ts';
import { nanoUsdOf, usdOf } from '../../accounts/limits/index.ts';
import { AttemptSeries, KeyCosts, RequestSeries } from './request-series.ts';
import { type Distribution, type Readings, type Sample, single } from './reading.ts';
import { SeriesBook, Tally } from './series-book.ts';

/** Stands for the provider of a request for which nobody was asked. */
const NOBODY = 'none';

/** Metrics that the records of requests give. */
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

export class RequestMetrics implements SettlementObserver {
  readonly #requests: SeriesBook<RequestSeries>;
  readonly #attempts: SeriesBook<AttemptSeries>;
  readonly #keys = new KeyCosts();
  readonly #refusals = new Tally<'rate' | 'budget'>();
  #unrecorded = 0;

  /** @param listedAs the id of a listed model for any name of it; null for every other name */
  constructor(listedAs: (model: string) => string | null) {
    this.#requests = new SeriesBook(listedAs, (name) => new RequestSeries(name));
    this.#attempts = new SeriesBook(listedAs, (name) => new AttemptSeries(name));
  }

  settled({ generation, attempts, models, principal, unrecorded }: Settlement): void {
    const { model, requestedModel, api, cost, projectId } = generation;
    const { provider } = placeOf(generation, attempts);
    this.#requests.of(model ?? requestedModel, provider ?? NOBODY, api).add(generation);
    this.#addAttempts(attempts, models);
    if (cost?.usd) this.#keys.add(projectId, principal.name, nanoUsdOf(cost.usd));
    this.#addRefusal(generation);
    if (unrecorded !== undefined) this.#unrecorded += 1;
  }

  /** Only what no upstream said is the gateway's own refusal. */
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

  /** Reads what was counted. */
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
    failovers: () => this.#tries(({ failovers }) => failovers),
    retries: () => this.#tries(({ retries }) => retries),
    limitRefusals: () => this.#refusals.under('reason', {}),
    unrecorded: () => single(this.#unrecorded),
  };

  #served(of: (series: RequestSeries) => Distribution['histogram']): readonly Distribution[] {
    return this.#requests.all.map((series) => ({ labels: series.served, histogram: of(series) }));
  }

  #tries(of: (series: AttemptSeries) => number): readonly Sample[] {
    return this.#attempts.all.map((series) => ({ labels: series.labels, value: of(series) }));
  }
}
