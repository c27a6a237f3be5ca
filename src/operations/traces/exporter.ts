// Exports spans of completed requests to a collector (OTLP/HTTP in JSON), in batches, one at a time. While the
// collector is unavailable, spans are queued up to a limit; further ones are dropped and counted. Requests never wait
// for it.
import { GatewayError } from '../../canonical/index.ts';
import type { FinishedRequest, RequestObserver } from '../../engine/index.ts';
import { retryAfterMs } from '../../base/lib/retry-after.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import type { Secret } from '../../base/telemetry/secret.ts';
import type { TraceContext } from '../../base/telemetry/trace-context.ts';
import type { GuardedAnswer, GuardedFetch } from '../../upstream/fetch-guarded.ts';
import { spansOf } from './span.ts';
import type { DurationMs } from '../../base/units.ts';

export interface Collector {
  /** URL that spans are POSTed to. */
  readonly url: string;
  readonly headers: Readonly<Record<string, Secret>>;
  readonly serviceName: string;
}

export interface TraceExporterOptions {
  /** Current configuration; null: no collector. */
  readonly collector: () => Collector | null;
  readonly fetch: Pick<GuardedFetch, 'fetchWhole'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Milliseconds for which spans are collected into a batch. */
const GATHER_MS = 1_000;
/** Requests per message. Encoding takes 1–2 ms. */
const BATCH = 100;
/** Maximum number of queued requests, which limits the memory during an outage. Further ones are dropped. */
const MOST_WAITING = 2_000;
const TIMEOUT_MS = 10_000;
/** Maximum bytes of a response. */
const MOST_BYTES = 64 * 1024;
/** First retry pause in milliseconds. Doubled for each further retry, up to `LONGEST_PAUSE_MS`. */
const FIRST_PAUSE_MS = 1_000;
/** Maximum retry pause, also if the collector asks for a longer one. */
const LONGEST_PAUSE_MS = 30_000;
/** Milliseconds after which a message is dropped, so that one that always fails does not block the others. */
const RETRY_MS = 600_000;
/** Minimum milliseconds between log lines. */
const LOG_EVERY_MS = 60_000;
/** Milliseconds for the last spans when the process stops. */
const SHUTDOWN_MS = 2_000;
/** Retryable statuses (OTLP specification, "OTLP/HTTP Response"). */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** A queued request. */
interface Waiting {
  readonly finished: FinishedRequest;
  readonly trace: TraceContext;
}

export class TraceExporter implements RequestObserver {
  readonly #options: TraceExporterOptions;
  /** `#ending` stops retries; `#stop` aborts everything. */
  readonly #ending = new AbortController();
  readonly #stop = new AbortController();
  #waiting: Waiting[] = [];
  #gathering: (() => void) | undefined;
  #sending: Promise<void> | undefined;
  #loggedAt = -Infinity;
  #exported = 0;
  #dropped = 0;

  constructor(options: TraceExporterOptions) {
    this.#options = options;
  }

  /** Requests whose spans were accepted by a collector. */
  get exported(): number {
    return this.#exported;
  }

  /** Requests whose spans were dropped. */
  get dropped(): number {
    return this.#dropped;
  }

  finished(finished: FinishedRequest): void {
    const { trace } = finished;
    if (!trace?.isSampled) return;
    if (this.#waiting.length >= MOST_WAITING) return this.#drop(1, 'it is too slow');
    this.#waiting.push({ finished: withoutContent(finished), trace });
    this.#gather();
  }

  /** Sends queued spans. Resolves when all are sent or dropped. */
  flush(): Promise<void> {
    this.#gathering = undefined;
    return (this.#sending ??= this.#sendAll());
  }

  /** Sends queued spans within `SHUTDOWN_MS`, without retries, and then stops. */
  async stop(): Promise<void> {
    this.#gathering?.();
    this.#ending.abort();
    const { clock } = this.#options;
    const over = new Promise<void>((resolve) => clock.after(SHUTDOWN_MS, resolve));
    await Promise.race([this.flush(), over]);
    this.#stop.abort();
  }

  #gather(): void {
    if (this.#gathering || this.#sending) return;
    this.#gathering = this.#options.clock.after(GATHER_MS, () => void this.flush());
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#stop.signal.aborted) {
      const batch = this.#waiting.splice(0, BATCH);
      const failure = await this.#send(batch);
      if (failure === null) this.#exported += batch.length;
      else this.#drop(batch.length, failure);
    }
    this.#sending = undefined;
  }

  /** Sends a message, with retries. @returns reason of the failure; null: accepted */
  async #send(batch: readonly Waiting[]): Promise<string | null> {
    let body: string | undefined;
    let pauseMs = FIRST_PAUSE_MS;
    for (let pausedMs = 0; ;) {
      // Read for each attempt, because the configuration may change.
      const collector = this.#options.collector();
      if (!collector) return 'tracing has been disabled';
      body ??= bodyOf(batch, collector.serviceName);
      const answer = await this.#post(collector, body);
      if ('status' in answer && answer.status >= 200 && answer.status < 300) return null;
      const failure = 'status' in answer ? `status ${answer.status}` : answer.failure;
      if ('status' in answer && !RETRYABLE.has(answer.status)) return failure;
      const askedMs = ('status' in answer && retryAfterMs(answer.header)) || 0;
      const waitMs = Math.min(Math.max(askedMs, pauseMs), LONGEST_PAUSE_MS);
      pausedMs += waitMs;
      if (pausedMs > RETRY_MS) return failure;
      this.#say('the trace collector is unreachable; spans are queued and sent again', failure);
      if (!(await this.#pause(waitMs))) return failure;
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    }
  }

  async #post(
    { url, headers }: Collector,
    body: string,
  ): Promise<GuardedAnswer | { readonly failure: string }> {
    const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.reveal()]);
    try {
      return await this.#options.fetch.fetchWhole(
        {
          url,
          method: 'POST',
          headers: { ...Object.fromEntries(own), 'content-type': 'application/json' },
          body,
          redirects: 'none',
          maxBytes: MOST_BYTES,
          timeoutMs: TIMEOUT_MS,
          pool: { id: 'telemetry', label: 'the trace collector' },
        },
        this.#stop.signal,
      );
    } catch (error) {
      return { failure: GatewayError.from(error).message };
    }
  }

  /** Waits before a retry. @returns false, immediately, if the process is stopping */
  #pause(ms: DurationMs): Promise<boolean> {
    const { signal } = this.#ending;
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const done = (): void => {
        relax();
        signal.removeEventListener('abort', done);
        resolve(!signal.aborted);
      };
      const relax = this.#options.clock.after(ms, done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  #drop(requests: number, failure: string): void {
    this.#dropped += requests;
    this.#say('the trace collector rejected spans; they are dropped', failure);
  }

  /** Logs a warning, at most once per `LOG_EVERY_MS`. */
  #say(message: string, failure: string): void {
    const { clock, log } = this.#options;
    if (clock.now() - this.#loggedAt < LOG_EVERY_MS) return;
    this.#loggedAt = clock.now();
    log.warn(message, {
      failure,
      waiting_requests: this.#waiting.length,
      dropped_requests: this.#dropped,
    });
  }
}

/** Drops logged prompts, which may be large and are not exported. */
function withoutContent(finished: FinishedRequest): FinishedRequest {
  const { generation } = finished;
  return generation.content === null
    ? finished
    : { ...finished, generation: { ...generation, content: null } };
}

function bodyOf(batch: readonly Waiting[], serviceName: string): string {
  const spans = batch.flatMap(({ finished, trace }) => spansOf(finished, trace));
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: serviceName } }] };
  return JSON.stringify({
    resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'dragoman' }, spans }] }],
  });
}
