// The guarded fetch with the interface of the web's `fetch`, for the MCP SDK. All of the SDK's traffic goes through it,
// and credentials are masked in everything that a server sends.
import { MAX_ANSWER_DEPTH } from '../../../base/json/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import { EchoFilter, EchoMask, secretsOfAsking } from '../../../base/telemetry/echo-mask.ts';
import { nextTurn } from '../../../base/runtime/clock.ts';
import type { UpstreamCall } from '../../../upstream/client.ts';
import type { PoolName } from '../../../upstream/connection-pools.ts';
import type { GuardedFetch, GuardedListener } from '../../../upstream/fetch-guarded.ts';
import type { ResponseHead } from '../../../upstream/response-parser.ts';
import { NestingWatch } from './nesting-watch.ts';
import type { DurationMs } from '../../../base/units.ts';

export type WebFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Last error of a body, because readers of a stream may keep only its text. */
export interface Breakage {
  last: GatewayError | undefined;
}

export interface WebFetchLimits {
  /** Maximum bytes of one response. */
  readonly maxBytes: number;
  /** Timeout of one response up to its last byte, in milliseconds. */
  readonly timeoutMs: DurationMs;
}

/** Response headers that the SDK reads. */
const HEADERS = ['content-type', 'location', 'mcp-session-id', 'www-authenticate'];
/** Unread bytes at which the connection is paused. */
const HIGH_WATER = 64 * 1024;
/** Bytes passed to the SDK per turn of the event loop, because it reads all messages in them at once. */
const SLICE_BYTES = 16 * 1024;
const NO_BYTES: Buffer = Buffer.alloc(0);
/** Statuses without a body (Fetch standard, "null body status"). The constructor refuses even an empty one. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

let sessions = 0;

/**
 * Creates a `fetch` whose requests are guarded. Redirects are returned rather than followed: the SDK follows those
 * within the origin as separate requests. Rejects with the guard's GatewayErrors or the reason of the signal.
 */
export function webFetch(
  fetch: GuardedFetch,
  { maxBytes, timeoutMs }: WebFetchLimits,
  breakage: Breakage,
): WebFetch {
  // Each session has its own credential, and so its own connections.
  const pool: PoolName = { id: `mcp ${++sessions}`, label: 'MCP server' };
  return (url, init = {}) =>
    new Promise((resolve, reject) => {
      const { method, signal } = init;
      if (signal?.aborted) return reject(signal.reason);
      const headers = Object.fromEntries(new Headers(init.headers));
      const mask = EchoMask.of(secretsOfAsking(String(url), headers));
      const filter = mask && new EchoFilter(mask);
      const answer = new WebAnswer(resolve, reject, signal ?? undefined, breakage, filter);
      answer.call = fetch.send(
        {
          url: String(url),
          method: method === 'POST' || method === 'DELETE' ? method : 'GET',
          headers,
          body: typeof init.body === 'string' ? init.body : '',
          redirects: 'none',
          maxBytes,
          timeoutMs,
          pool,
        },
        answer,
      );
    });
}

/** One response: converts pushed data to a pull stream. */
class WebAnswer implements GuardedListener {
  call: UpstreamCall | undefined;
  readonly #resolve: (response: Response) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #signal: AbortSignal | undefined;
  readonly #breakage: Breakage;
  readonly #filter: EchoFilter | null;
  #body: ReadableStreamDefaultController<Uint8Array> | undefined;
  #watch: NestingWatch | undefined;
  /** Received bytes that were not read: at most about one read, because the connection is paused then. */
  #waiting = NO_BYTES;
  #isScheduled = false;
  #isAtEnd = false;

  constructor(
    resolve: (response: Response) => void,
    reject: (reason: unknown) => void,
    signal: AbortSignal | undefined,
    breakage: Breakage,
    filter: EchoFilter | null,
  ) {
    this.#breakage = breakage;
    this.#filter = filter;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#signal = signal;
    signal?.addEventListener('abort', this.#abort);
  }

  head(head: ResponseHead): void {
    const { status } = head;
    this.#watch = new NestingWatch(MAX_ANSWER_DEPTH, head.header('content-type'));
    const headers = HEADERS.flatMap((name): [string, string][] => {
      const value = head.header(name);
      return value === null ? [] : [[name, value]];
    });
    const stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#body = controller),
        pull: () => (this.#waiting.length === 0 ? this.call?.resume() : this.#later()),
        cancel: () => this.#stop(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: HIGH_WATER }),
    );
    try {
      this.#resolve(new Response(BODILESS.has(status) ? null : stream, { status, headers }));
    } catch (error) {
      // A status that the web's `Response` does not allow, such as 999.
      this.#stop();
      this.#reject(error);
    }
  }

  data(bytes: Buffer): void {
    if (this.#watch?.take(bytes) === false) {
      this.call?.abort();
      return this.failed(tooDeep());
    }
    this.#pass(this.#filter ? this.#filter.push(bytes) : bytes);
  }

  end(): void {
    if (this.#filter) this.#pass(this.#filter.end());
    this.#isAtEnd = true;
    if (this.#waiting.length === 0) this.#close();
  }

  #pass(bytes: Buffer): void {
    const { length } = this.#waiting;
    if (length === 0 && bytes.length <= SLICE_BYTES) return this.#give(bytes);
    this.#waiting = length === 0 ? bytes : Buffer.concat([this.#waiting, bytes]);
    this.call?.pause();
    this.#later();
  }

  #give(bytes: Buffer): void {
    if (bytes.length > 0) this.#body?.enqueue(bytes);
    if ((this.#body?.desiredSize ?? 1) <= 0) this.call?.pause();
  }

  /** Passes a slice in the next turn if the reader has capacity; otherwise the reader pulls later. */
  #later(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    nextTurn(() => {
      this.#isScheduled = false;
      if (this.#waiting.length === 0 || (this.#body?.desiredSize ?? 0) <= 0) return;
      const slice = this.#waiting.subarray(0, SLICE_BYTES);
      this.#waiting = this.#waiting.subarray(SLICE_BYTES);
      this.#give(slice);
      if (this.#waiting.length > 0) this.#later();
      else if (this.#isAtEnd) this.#close();
      else if ((this.#body?.desiredSize ?? 0) > 0) this.call?.resume();
    });
  }

  #close(): void {
    this.#signal?.removeEventListener('abort', this.#abort);
    this.#body?.close();
  }

  failed(error: GatewayError): void {
    this.#breakage.last = error;
    this.#fail(error);
  }

  #fail(error: unknown): void {
    this.#waiting = NO_BYTES;
    this.#signal?.removeEventListener('abort', this.#abort);
    this.#body?.error(error);
    this.#reject(error);
  }

  readonly #abort = (): void => {
    this.call?.abort();
    this.#fail(this.#signal?.reason);
  };

  #stop(): void {
    this.#waiting = NO_BYTES;
    this.#signal?.removeEventListener('abort', this.#abort);
    this.call?.abort();
  }
}

/** The SDK validates parsed data by visiting all of it, which takes seconds for deeply nested data. */
function tooDeep(): GatewayError {
  const message = `the content of this URL is nested more than ${MAX_ANSWER_DEPTH} levels deep`;
  return new GatewayError('too_large', message, { code: 'url_too_large' });
}
