// Usual request times per endpoint: percentiles of the last day, cached for a minute.
import type { AnswerTime, LedgerStore, UsageStore, UsualTime } from '../../accounts/ports/index.ts';
import { latencyAt, type LatencyCounts } from '../../accounts/usage/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

const DAY_MS = 86_400_000;
const KEPT_MS = 60_000;
/** Maximum number of cached endpoints. */
const MOST_KEPT = 500;
/** Minimum number of answers for percentiles. */
const LEAST = 5;

/** Milliseconds. */
export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
}

/** Usual times of an endpoint. */
export interface Baseline {
  /** Null: too few streamed answers. */
  readonly streamed: {
    readonly answers: number;
    readonly firstContent: Percentiles;
    readonly duration: Percentiles;
  } | null;
  /** Null: too few answers that were not streamed. */
  readonly whole: { readonly answers: number; readonly duration: Percentiles } | null;
  readonly sinceMs: UnixMs;
}

/** The last 24 hours of an endpoint. Times in milliseconds; null: unknown. */
export interface DayTime {
  readonly model: string;
  readonly endpoint: string;
  readonly attempts: number;
  readonly failedAttempts: number;
  readonly ms: number | null;
  readonly firstContentMs: DurationMs | null;
}

export class UsualTimes {
  readonly #ledger: Pick<LedgerStore, 'times'>;
  readonly #usage: Pick<UsageStore, 'query'>;
  readonly #clock: Pick<Clock, 'now' | 'wall'>;
  readonly #baselines = new Map<string, { readonly atMs: UnixMs; readonly found: Promise<Baseline> }>();
  #day: { readonly atMs: UnixMs; readonly found: Promise<readonly DayTime[]> } | undefined;

  constructor(
    ledger: Pick<LedgerStore, 'times'>,
    usage: Pick<UsageStore, 'query'>,
    clock: Pick<Clock, 'now' | 'wall'>,
  ) {
    this.#ledger = ledger;
    this.#usage = usage;
    this.#clock = clock;
  }

  /** Times of the latest 2,000 complete answers within 24 hours that needed one attempt. */
  of(model: string, endpoint: string): Promise<Baseline> {
    const name = JSON.stringify([model, endpoint]);
    const now = this.#clock.now();
    const kept = this.#baselines.get(name);
    if (kept && now - kept.atMs < KEPT_MS) return kept.found;
    if (this.#baselines.size >= MOST_KEPT) this.#baselines.clear();
    const found = this.#read(model, endpoint);
    this.#baselines.set(name, { atMs: now, found });
    found.catch(() => this.#baselines.delete(name));
    return found;
  }

  /** 95th percentiles of all endpoints in the last day, from the sums. */
  async day(): Promise<readonly DayTime[]> {
    const now = this.#clock.now();
    if (this.#day && now - this.#day.atMs < KEPT_MS) return this.#day.found;
    const found = this.#readDay();
    this.#day = { atMs: now, found };
    found.catch(() => (this.#day = undefined));
    return found;
  }

  /** 95th percentile of the duration at each endpoint in the last day, from the sums. */
  async slow(): Promise<readonly UsualTime[]> {
    const day = await this.day();
    return day.flatMap(({ model, endpoint, ms }) => (ms === null ? [] : [{ model, endpoint, ms }]));
  }

  async #read(model: string, endpoint: string): Promise<Baseline> {
    const sinceMs = this.#clock.wall() - DAY_MS;
    const times = await this.#ledger.times(model, endpoint, sinceMs);
    const streamed = times.filter(({ firstContentMs }) => firstContentMs !== null);
    const whole = times.filter(({ firstContentMs }) => firstContentMs === null);
    return {
      streamed:
        streamed.length < LEAST
          ? null
          : {
              answers: streamed.length,
              firstContent: percentiles(streamed.map(({ firstContentMs }) => firstContentMs ?? 0)),
              duration: durations(streamed),
            },
      whole: whole.length < LEAST ? null : { answers: whole.length, duration: durations(whole) },
      sinceMs,
    };
  }

  async #readDay(): Promise<readonly DayTime[]> {
    const toMs = this.#clock.wall();
    const { rows } = await this.#usage.query({
      fromMs: toMs - DAY_MS,
      toMs,
      interval: null,
      groupBy: ['model', 'endpoint'],
      filters: {},
      wanted: { counts: ['attempts', 'failed_attempts'], details: true },
    });
    return rows.flatMap(({ group: { model, endpoint }, sums }) => {
      if (!model || !endpoint) return [];
      const { durations: all, firstContents } = sums.details;
      const { attempts, failed_attempts: failedAttempts } = sums.counts;
      return [
        { model, endpoint, attempts, failedAttempts, ms: known(all), firstContentMs: known(firstContents) },
      ];
    });
  }
}

function known(counts: LatencyCounts): number | null {
  const ms = latencyAt(0.95, counts);
  return ms === Infinity ? null : ms;
}

function durations(times: readonly AnswerTime[]): Percentiles {
  return percentiles(times.map(({ durationMs }) => durationMs));
}

function percentiles(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  return { p50: at(0.5), p95: at(0.95) };
}
