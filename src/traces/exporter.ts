// Sends the spans of requests that are over to a collector (OTLP/HTTP in JSON): in batches, one at a time, bounded. What a
// slow collector does not take is dropped and counted; no request waits for it.
import { GatewayError } from '../canonical/index.ts';
import type { Settlement, SettlementObserver } from '../engine/index.ts';
import { retryAfterMs } from '../lib/retry-after.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Secret } from '../telemetry/secret.ts';
import type { TraceContext } from '../telemetry/trace-context.ts';
import type { GuardedAnswer, GuardedFetch } from '../upstream/fetch-guarded.ts';
import { spansOf } from './span.ts';
import { toByteString } from '../lib/byte-string.ts';

export interface Collector {
  /** Where spans are POSTed to. */
  readonly url: string;
  readonly headers: Readonly<Record<string, Secret>>;
  readonly serviceName: string;
}

export interface TraceExporterOptions {
  /** As it is configured now; null: there is none. */
  readonly collector: () => Collector | null;
  readonly fetch: Pick<GuardedFetch, 'fetchWhole'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** How long spans wait for others, in milliseconds. */
const GATHER_MS = 1_000;
/** Requests of one message: what is made of them takes a millisecond or two. */
const BATCH = 100;
/** Requests that wait; those that come when there are as many are dropped. */
const MOST_WAITING = 2_000;
const TIMEOUT_MS = 10_000;
/** Of an answer, which says little. */
const MOST_BYTES = 64 * 1024;
/** Pauses before a message is sent again, in milliseconds. */
const PAUSES_MS = [1_000, 5_000] as const;
/** Longest pause that a collector may ask for, and the least between two lines of the log. */
const LONGEST_PAUSE_MS = 30_000;
const LOG_EVERY_MS = 60_000;
/** For the last spans at the end of the process. */
const FAREWELL_MS = 2_000;
/** Statuses after which the same may be sent again (OTLP specification, "OTLP/HTTP Response"). */
const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** A request that waits. */
interface Waiting {
  readonly settlement: Settlement;
  readonly trace: TraceContext;
}

export class TraceExporter implements SettlementObserver {
  readonly #options: TraceExporterOptions;
  /** From then on nothing is tried again, and then nothing sent. */
  readonly #ending = new AbortController();
  readonly #stop = new AbortController();
  #waiting: Waiting[] = [];
  #gathering: (() => void) | undefined;
  #sending: Promise<void> | undefined;
  #saidAt = -Infinity;
  #exported = 0;
  #dropped = 0;

  constructor(options: TraceExporterOptions) {
    this.#options = options;
  }

  /** Requests whose spans a collector has taken. */
  get exported(): number {
    return this.#exported;
  }

  /** Requests whose spans were dropped. */
  get dropped(): number {
    return this.#dropped;
  }

  settled(settlement: Settlement): void {
    const { trace } = settlement;
    if (!trace?.isSampled) return;
    if (this.#waiting.length >= MOST_WAITING) return this.#drop(1, 'it is too slow');
    this.#waiting.push({ settlement: withoutContent(settlement), trace });
    this.#gather();
  }

  /** Sends what waits. Resolves when all of it is sent, or given up. */
  flush(): Promise<void> {
    this.#gathering = undefined;
    return (this.#sending ??= this.#sendAll());
  }

  /** Sends what waits, as far as that is quick, and nothing more. */
  async stop(): Promise<void> {
    this.#gathering?.();
    this.#ending.abort();
    const { clock } = this.#options;
    const over = new Promise<void>((resolve) => clock.after(FAREWELL_MS, resolve));
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

  /** @returns why it was not taken; null: it was */
  async #send(batch: readonly Waiting[]): Promise<string | null> {
    const collector = this.#options.collector();
    if (!collector) return 'there is none any more';
    const body = bodyOf(batch, collector.serviceName);
    for (let tries = 0; ; tries++) {
      const answer = await this.#post(collector, body);
      if ('failure' in answer) {
        if (!(await this.#pause(PAUSES_MS[tries]))) return answer.failure;
        continue;
      }
      const { status, header } = answer;
      if (status >= 200 && status < 300) return null;
      const asked = retryAfterMs(header);
      const pause = PAUSES_MS[tries];
      const longer = pause && Math.min(Math.max(asked ?? 0, pause), LONGEST_PAUSE_MS);
      if (!PASSING.has(status) || !(await this.#pause(longer))) return `status ${status}`;
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
          body: asBytes(body),
          redirects: 'none',
          maxBytes: MOST_BYTES,
          timeoutMs: TIMEOUT_MS,
          pool: { id: 'telemetry', label: 'the collector of traces' },
        },
        this.#stop.signal,
      );
    } catch (error) {
      return { failure: GatewayError.from(error).message };
    }
  }

  /** False at once where there is no further try. */
  #pause(ms: number | undefined): Promise<boolean> {
    const { signal } = this.#ending;
    if (ms === undefined || signal.aborted) return Promise.resolve(false);
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
    const { clock, log } = this.#options;
    this.#dropped += requests;
    if (clock.now() - this.#saidAt < LOG_EVERY_MS) return;
    this.#saidAt = clock.now();
    log.warn('the collector of traces does not take them: spans are dropped', {
      failure,
      dropped_requests: this.#dropped,
    });
  }
}

/** Logged prompts may be large, and are in no span. */
function withoutContent(settlement: Settlement): Settlement {
  const { generation } = settlement;
  return generation.content === null
    ? settlement
    : { ...settlement, generation: { ...generation, content: null } };
}

/** A byte string. Almost every message is one already, and looking is cheaper than writing it again. */
function asBytes(text: string): string {
  return toByteString(text);
}

function bodyOf(batch: readonly Waiting[], serviceName: string): string {
  const spans = batch.flatMap(({ settlement, trace }) => spansOf(settlement, trace));
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: serviceName } }] };
  return JSON.stringify({
    resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'dragoman' }, spans }] }],
  });
}
