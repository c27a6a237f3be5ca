// Whether the process can take more: how late its event loop is, how much of its memory is used, and, where it is asked for,
// whether records find room. Beyond its limits new requests are refused until it is well again; running ones go on. Measures;
// knows no path.
import { GatewayError } from '../canonical/index.ts';
import type { Clock } from '../base/runtime/clock.ts';
import type { LedgerStore } from '../accounts/ports/index.ts';
import type { Counters } from '../base/telemetry/counters.ts';
import type { Logger } from '../base/telemetry/log.ts';
import type { DurationMs, UnixMs } from '../base/units.ts';

export interface LoadLimits {
  readonly server: {
    readonly overload: {
      /** 0: not watched. */
      readonly lagMs: DurationMs;
      /** Share of the memory that there is; 0: not watched. */
      readonly memoryPercent: number;
    };
  };
  readonly ledger: { readonly whenFull: 'serve' | 'refuse' };
}

export interface LoadWatchOptions {
  /** Asked at every look, since a reload may change them. */
  readonly config: () => LoadLimits;
  readonly clock: Clock;
  readonly ledger: Pick<LedgerStore, 'backlog'>;
  readonly residentBytes: () => number;
  /** Memory that the process may have. */
  readonly memoryBytes: number;
  readonly counters: Counters;
  /** Told at every look how late the loop was, in milliseconds. */
  readonly late: (ms: number) => void;
  readonly log: Logger;
}

/** How often the loop is looked at, in milliseconds. */
const LOOK_MS = 100;
/** Looks on time in a row after which it is well again. */
const CALM_LOOKS = 3;
/** Memory is looked at in every one of so many looks. */
const MEMORY_EVERY = 10;
/** Bodies above this are refused first when memory is short. */
const LARGE_BYTES = 256 * 1024;
/** When a refused client may try again, in milliseconds. */
const RETRY_MS = 1_000;
/** Requests that are remembered for the log. */
const REMEMBERED = 16;

/** One request that was begun. */
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
  /** Looks on time that are still needed; 0: the loop is well. */
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
  get isWell(): boolean {
    return this.#late === 0 && !this.#isShort && !this.#isLedgerFull;
  }

  /** How full the memory was when it was last looked at. */
  get memoryPercent(): number {
    return Math.round(this.#memoryPercent);
  }

  /**
   * Lets a new request pass.
   * @param announced bytes of its body; NaN where it does not say
   * @throws GatewayError 503 with `retry-after`
   */
  admit(announced: number): void {
    if (this.#late > 0) {
      this.#options.counters.add('refused_for_lag');
      throw overloaded('the gateway is overloaded: it cannot keep up (server.overload.lag_ms)');
    }
    if (this.#isLedgerFull) {
      this.#options.counters.add('refused_for_ledger');
      throw overloaded('the records of requests find no room (ledger.when_full)');
    }
    if (!this.#isShort) return;
    // Large requests are refused first, and half-way between the limit and the end all.
    const { memoryPercent: limit } = this.#options.config().server.overload;
    if (announced <= LARGE_BYTES && this.#memoryPercent < (limit + 100) / 2) return;
    this.#options.counters.add('refused_for_memory');
    throw overloaded('the gateway is short of memory (server.overload.memory_percent)');
  }

  /** Remembers that the work on a request begins, for the log. */
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
    if (this.#looks++ % MEMORY_EVERY === 0) this.#weigh(memoryPercent);
  }

  #stalled(lag: number, since: UnixMs): void {
    const { counters, log } = this.#options;
    this.#late = CALM_LOOKS;
    counters.add('lag_stalls');
    // Work that was begun in that time held it up, or else an answer that was streaming did.
    const requests = this.#begun
      .filter(({ at, api }) => api !== '' && at >= since)
      .map(({ api, keyId }) => `${api} of ${keyId}`);
    log.warn('the event loop was held up: new requests are refused until it is on time', {
      late_ms: Math.round(lag),
      requests,
      ...counters.read(),
    });
  }

  #weigh(limit: number): void {
    const { residentBytes, memoryBytes, counters, log } = this.#options;
    this.#memoryPercent = limit > 0 ? (residentBytes() / memoryBytes) * 100 : 0;
    const isShort = limit > 0 && this.#memoryPercent > limit;
    if (isShort === this.#isShort) return;
    this.#isShort = isShort;
    const facts = { memory_percent: this.memoryPercent, ...counters.read() };
    if (isShort) log.warn('memory is short: new large requests are refused', facts);
    else log.info('memory is no longer short', facts);
  }
}

function overloaded(message: string): GatewayError {
  return new GatewayError('upstream_unavailable', `${message}; try again in a moment`, {
    fault: 'gateway',
    httpStatus: 503,
    retryAfterMs: RETRY_MS,
    code: 'overloaded',
  });
}
