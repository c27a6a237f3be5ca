// The guarded fetch in the shape of the web's `fetch`, for the MCP SDK, which wants nothing else. The only way from
// the SDK to a socket: what proved its sender to a server is masked in all that the server says. Knows nothing of MCP.
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

/** Why a body broke off last: whoever reads it as a stream may keep no more than the text of an error. */
export interface Breakage {
  last: GatewayError | undefined;
}

export interface WebFetchLimits {
  /** Most bytes of one answer. */
  readonly maxBytes: number;
  /** For one answer to its last byte, milliseconds. */
  readonly timeoutMs: DurationMs;
}

/** Headers of an answer that the SDK reads. */
const HEADERS = ['content-type', 'location', 'mcp-session-id', 'www-authenticate'];
/** Bytes that wait unread before the connection is paused. */
const HIGH_WATER = 64 * 1024;
/** Bytes that the SDK gets in one turn of the loop: it reads all messages that are in them at once. */
const SLICE_BYTES = 16 * 1024;
const NOTHING: Buffer = Buffer.alloc(0);
/** These have no body (Fetch standard, "null body status"); an empty one is refused by the constructor too. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

let sessions = 0;

/**
 * Makes a `fetch` whose every request is guarded. Redirects are not followed but given as answers: the SDK follows
 * those within the origin, each a request of its own. It rejects with the GatewayErrors of the guard, or with the
 * reason of the signal.
 */
export function webFetch(
  fetch: GuardedFetch,
  { maxBytes, timeoutMs }: WebFetchLimits,
  breakage: Breakage,
): WebFetch {
  // One session, one credential: nobody else's requests go over its connections.
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

/** One answer on its way: what is pushed becomes a stream that is pulled. */
class WebAnswer implements GuardedListener {
  call: UpstreamCall | undefined;
  readonly #resolve: (response: Response) => void;
  readonly #reject: (reason: unknown) => void;
  readonly #signal: AbortSignal | undefined;
  readonly #breakage: Breakage;
  readonly #filter: EchoFilter | null;
  #body: ReadableStreamDefaultController<Uint8Array> | undefined;
  #watch: NestingWatch | undefined;
  /** Bytes that have come and wait to be read; at most about one read, for the connection is paused then. */
  #waiting = NOTHING;
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
      // A status that the web does not know, such as 999.
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

  /** Gives a slice of what waits in the next turn, if whoever reads has room then; else it pulls when there is some. */
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
    this.#waiting = NOTHING;
    this.#signal?.removeEventListener('abort', this.#abort);
    this.#body?.error(error);
    this.#reject(error);
  }

  readonly #abort = (): void => {
    this.call?.abort();
    this.#fail(this.#signal?.reason);
  };

  #stop(): void {
    this.#waiting = NOTHING;
    this.#signal?.removeEventListener('abort', this.#abort);
    this.call?.abort();
  }
}

/** The SDK checks what it has parsed by walking through all of it, which takes seconds where it nests without end. */
function tooDeep(): GatewayError {
  const message = `what this address gives is nested more than ${MAX_ANSWER_DEPTH} levels deep`;
  return new GatewayError('too_large', message, { code: 'url_too_large' });
}
