// Overload protection: event loop delay, memory use and, if configured, capacity for records. Beyond the limits new
// requests are refused until the load falls; running ones continue.
import { GatewayError } from '../canonical/index.ts';
import type { Clock } from '../base/runtime/clock.ts';
import type { LedgerStore } from '../accounts/ports/index.ts';
import type { Counters } from '../base/telemetry/counters.ts';
import type { Logger } from '../base/telemetry/log.ts';
import type { DurationMs, UnixMs } from '../base/units.ts';

export interface LoadLimits {
  readonly server: {
    readonly overload: {
      /** 0: not checked. */
      readonly lagMs: DurationMs;
      /** Percentage of the available memory. 0: not checked. */
      readonly memoryPercent: number;
    };
  };
  readonly ledger: { readonly whenFull: 'serve' | 'refuse' };
}

export interface LoadWatchOptions {
  /** Read at every check, because a reload may change them. */
  readonly config: () => LoadLimits;
  readonly clock: Clock;
  readonly ledger: Pick<LedgerStore, 'backlog'>;
  readonly residentBytes: () => number;
  /** Memory available to the process. */
  readonly memoryBytes: number;
  readonly counters: Counters;
  /** Called at every check with the event loop delay in milliseconds. */
  readonly late: (ms: number) => void;
  readonly log: Logger;
}

/** Interval of checks, in milliseconds. */
const LOOK_MS = 100;
/** Consecutive checks on time after which the loop counts as healthy. */
const HEALTHY_CHECKS = 3;
/** Number of checks per memory check. */
const MEMORY_EVERY = 10;
/** Size above which bodies are refused first when memory is short. */
const LARGE_BYTES = 256 * 1024;
/** Retry delay for a refused client, in milliseconds. */
const RETRY_MS = 1_000;
/** Number of requests that are remembered for the log. */
const REMEMBERED = 16;

/** A request that was begun. */
interface Begun {
  at: UnixMs;
  api: string;
  keyId: string;
}

export class LoadWatch {
  readonly #options: LoadWatchOptions;
  readonly #begun: Begun[] = Array.from({ length: REMEMBERED }, () => ({ at: 0, api: '', keyId: '' }));
  readonly #stop: () => void;
  #next = 0;
  #lookedAt: UnixMs;
  #looks = 0;
  /** Remaining checks on time until the loop counts as healthy. 0: healthy. */
  #late = 0;
  #memoryPercent = 0;
  #isShort = false;
  #isLedgerFull = false;

  constructor(options: LoadWatchOptions) {
    this.#options = options;
    this.#lookedAt = options.clock.now();
    this.#stop = options.clock.every(LOOK_MS, () => this.#look());
  }

  /** False while new requests are refused. */
  get isHealthy(): boolean {
    return this.#late === 0 && !this.#isShort && !this.#isLedgerFull;
  }

  /** Memory use at the last check. */
  get memoryPercent(): number {
    return Math.round(this.#memoryPercent);
  }

  /**
   * Admits a new request.
   * @param announced declared bytes of its body; NaN: not declared
   * @throws GatewayError 503 with `retry-after`
   */
  admit(announced: number): void {
    if (this.#late > 0) {
      this.#options.counters.add('refused_for_lag');
      throw overloaded('The gateway is overloaded: its event loop is late (server.overload.lag_ms)');
    }
    if (this.#isLedgerFull) {
      this.#options.counters.add('refused_for_ledger');
      throw overloaded('The journal for request records is full (ledger.when_full)');
    }
    if (!this.#isShort) return;
    // Large requests are refused first; half-way between the limit and 100 % all are refused.
    const { memoryPercent: limit } = this.#options.config().server.overload;
    if (announced <= LARGE_BYTES && this.#memoryPercent < (limit + 100) / 2) return;
    this.#options.counters.add('refused_for_memory');
    throw overloaded('The gateway is low on memory (server.overload.memory_percent)');
  }

  /** Remembers the start of a request, for the log. */
  begin(api: string, keyId: string): void {
    const begun = this.#begun[this.#next % REMEMBERED];
    this.#next += 1;
    if (!begun) return;
    begun.at = this.#options.clock.now();
    begun.api = api;
    begun.keyId = keyId;
  }

  stop(): void {
    this.#stop();
  }

  #look(): void {
    const { clock, config, late, ledger } = this.#options;
    const { server, ledger: records } = config();
    const { lagMs, memoryPercent } = server.overload;
    const now = clock.now();
    const since = this.#lookedAt;
    this.#lookedAt = now;
    const lag = now - since - LOOK_MS;
    late(lag);
    if (lagMs > 0 && lag > lagMs) this.#stalled(lag, since);
    else if (this.#late > 0 && --this.#late === 0) this.#options.log.info('the event loop is on time again');
    this.#isLedgerFull = records.whenFull === 'refuse' && ledger.backlog().isFull;
    if (this.#looks++ % MEMORY_EVERY === 0) this.#checkMemory(memoryPercent);
  }

  #stalled(lag: number, since: UnixMs): void {
    const { counters, log } = this.#options;
    this.#late = HEALTHY_CHECKS;
    counters.add('lag_stalls');
    // Work that began in that time blocked the loop, or else an answer that was being streamed.
    const requests = this.#begun
      .filter(({ at, api }) => api !== '' && at >= since)
      .map(({ api, keyId }) => `${api} of ${keyId}`);
    log.warn('the event loop was blocked: new requests are refused until it is on time again', {
      late_ms: Math.round(lag),
      requests,
      ...counters.read(),
    });
  }

  #checkMemory(limit: number): void {
    const { residentBytes, memoryBytes, counters, log } = this.#options;
    this.#memoryPercent = limit > 0 ? (residentBytes() / memoryBytes) * 100 : 0;
    const isShort = limit > 0 && this.#memoryPercent > limit;
    if (isShort === this.#isShort) return;
    this.#isShort = isShort;
    const facts = { memory_percent: this.memoryPercent, ...counters.read() };
    if (isShort) log.warn('memory is low: new large requests are refused', facts);
    else log.info('memory is no longer low', facts);
  }
}

function overloaded(message: string): GatewayError {
  return new GatewayError('upstream_unavailable', `${message}. Try again in a moment.`, {
    fault: 'gateway',
    httpStatus: 503,
    retryAfterMs: RETRY_MS,
    code: 'overloaded',
  });
}
