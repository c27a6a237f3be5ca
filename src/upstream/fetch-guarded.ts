// Fetches addresses from requests with guards: every hop is checked, connected to the checked IP address, and limited
// in bytes and time. Used for images, files, MCP servers and web pages.
import { type Slices, slicesOf } from '../base/lib/bytes.ts';
import { GatewayError, TEXTS } from '../canonical/index.ts';
import type { Clock } from '../base/runtime/clock.ts';
import { isPublicAddress } from './address-ranges.ts';
import { ask, collect, type ReceiveFailure } from './ask.ts';
import { type TransportFailure, type UpstreamCall, type UpstreamClient, Destination } from './client.ts';
import type { PoolName } from './connection-pools.ts';
import { type Guarded, type GuardOptions, guardUrl } from './guard.ts';
import type { ResponseHead } from './response-parser.ts';
import { DIRECT } from './network-route.ts';
import type { DurationMs } from '../base/units.ts';

export interface GuardedRequest {
  readonly url: string;
  /** Default: GET. */
  readonly method?: 'GET' | 'POST' | 'DELETE' | undefined;
  /** By lower-case name. A redirect to another origin receives only `accept` and `user-agent`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sent as UTF-8. */
  readonly body?: string | undefined;
  /** `none`: a redirect is returned as the answer. Default: followed. */
  readonly redirects?: 'none' | undefined;
  /** Maximum bytes of the answer, before and after decompression. */
  readonly maxBytes: number;
  /** Timeout in milliseconds for everything: name resolution, redirects, and the answer to its last byte. */
  readonly timeoutMs: DurationMs;
  /** Pool for reusing connections. Absent: the connection is closed after its answer. */
  readonly pool?: PoolName | undefined;
  /** Called once connected; from then on the request may have been received. */
  readonly sent?: (() => void) | undefined;
  /** Called before bytes of the answer are passed on. An exception ends the request. */
  readonly taking?: ((bytes: number) => void) | undefined;
}

export interface GuardedListener {
  /** @param url final address, after redirects */
  head(head: ResponseHead, url: string): void;
  /** Decompressed. */
  data(bytes: Buffer): void;
  /** Exactly one of `end` and `failed` is called, unless the call was aborted. */
  end(): void;
  failed(error: GatewayError): void;
}

export interface GuardedAnswer {
  readonly status: number;
  /** Reads a header by lower-case name. */
  readonly header: (name: string) => string | null;
  /** Final address, after redirects. */
  readonly url: string;
  readonly bytes: Buffer;
}

export interface GuardedFetchOptions extends GuardOptions {
  readonly client: UpstreamClient;
  readonly clock: Clock;
}

const MAX_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Headers that may be sent to another origin after a redirect. */
const HARMLESS: ReadonlySet<string> = new Set(['accept', 'user-agent']);

export class GuardedFetch {
  readonly #options: GuardedFetchOptions;

  constructor(options: GuardedFetchOptions) {
    this.#options = options;
  }

  /**
   * Checks an address that another server will fetch. That server resolves the name again and follows redirects, so
   * this does not replace fetching.
   * @throws GatewayError `invalid_request` (`url_not_allowed`), or `unsupported` when name resolution times out
   */
  check(url: string, timeoutMs: DurationMs): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = this.#options.clock.after(timeoutMs, () =>
        reject(notFetched(`it took longer than ${timeoutMs} ms`)),
      );
      guardUrl(url, this.#options)
        .then(() => resolve(), reject)
        .finally(stop);
    });
  }

  /** Starts a request whose answer is pushed. Failures reach the listener as GatewayErrors. */
  send(request: GuardedRequest, listener: GuardedListener): UpstreamCall {
    return new GuardedCall(this.#options, request, listener);
  }

  /**
   * Fetches a whole answer with any status.
   * @param signal cancels it
   * @throws GatewayError `invalid_request` (`url_not_allowed`), `too_large`, `unsupported` (`url_not_fetched`), or
   * `cancelled`
   */
  async fetchWhole(request: GuardedRequest, signal?: AbortSignal): Promise<GuardedAnswer> {
    if (signal?.aborted === true) throw cancelled();
    let url = request.url;
    const fetched = collect<[error: GatewayError]>((taker) =>
      this.send(request, {
        ...taker,
        head: (head, from) => {
          url = from;
          taker.head(head);
        },
      }),
    );
    signal?.addEventListener('abort', fetched.abort, { once: true });
    const outcome = await fetched.outcome;
    signal?.removeEventListener('abort', fetched.abort);
    if (outcome === null) throw cancelled();
    if ('failure' in outcome) throw outcome.failure[0];
    const { head, bytes } = outcome;
    return { status: head.status, header: (name) => head.header(name), url, bytes };
  }
}

/** One request in a chain of redirects. */
interface Hop {
  readonly url: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Slices;
}

class GuardedCall implements UpstreamCall {
  readonly #options: GuardedFetchOptions;
  readonly #request: GuardedRequest;
  readonly #listener: GuardedListener;
  readonly #stopClock: () => void;
  #call: UpstreamCall | undefined;
  #redirects = 0;
  #paused = false;
  #done = false;

  constructor(options: GuardedFetchOptions, request: GuardedRequest, listener: GuardedListener) {
    this.#options = options;
    this.#request = request;
    this.#listener = listener;
    const { url, method = 'GET', body = '', timeoutMs } = request;
    this.#stopClock = options.clock.after(timeoutMs, () =>
      this.#fail(notFetched(`it took longer than ${timeoutMs} ms`)),
    );
    void this.#visit({
      url,
      method,
      body: slicesOf(body),
      headers: { 'user-agent': 'dragoman', ...request.headers },
    });
  }

  abort(): void {
    this.#finish();
  }

  pause(): void {
    this.#paused = true;
    this.#call?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#call?.resume();
  }

  async #visit(hop: Hop): Promise<void> {
    try {
      const guarded = await guardUrl(hop.url, this.#options);
      if (!this.#done) this.#connect(hop, guarded, 0);
    } catch (error) {
      this.#fail(GatewayError.from(error));
    }
  }

  /** @param place index of the IP address; the next one is tried when connecting fails */
  #connect(hop: Hop, guarded: Guarded, place: number): void {
    const { url, addresses } = guarded;
    const { method, body } = hop;
    const { pool, maxBytes } = this.#request;
    const headers = { ...hop.headers, 'accept-encoding': 'identity' };
    const address = addresses[place];
    // Private addresses that the operator allows are in this machine's network, not in that of a proxy.
    const networkRoute = address !== undefined && !isPublicAddress(address) ? DIRECT : undefined;
    const to = new Destination({ method, url: url.href, address, networkRoute, headers });
    const call = ask({ to, body, pool, maxBytes }, this.#options.client, {
      connected: () => this.#request.sent?.(),
      head: (head) => {
        const next = this.#redirected(hop, url, head);
        if (!next) return this.#listener.head(head, url.href);
        this.#call?.abort();
        if (!this.#done) void this.#visit(next);
      },
      data: (bytes) => this.#pass(bytes),
      end: () => this.#end(),
      failed: (failure, message) => {
        if (failure === 'connect' && place + 1 < addresses.length)
          return this.#connect(hop, guarded, place + 1);
        this.#fail(failureOf(failure, message, maxBytes));
      },
    });
    this.#call = call;
    if (this.#done) call.abort();
    else if (this.#paused) call.pause();
  }

  /** The next request of a redirect. Undefined: not a redirect. Never throws; a refusal ends the call. */
  #redirected(hop: Hop, from: URL, head: ResponseHead): Hop | undefined {
    if (this.#request.redirects === 'none') return undefined;
    const location = head.header('location');
    if (!REDIRECTS.has(head.status) || location === null || !URL.canParse(location, from)) return undefined;
    const to = new URL(location, from);
    const isAway = to.origin !== from.origin;
    // As in browsers, a POST redirected this way becomes a GET (Fetch standard, "HTTP-redirect fetch").
    const keepsBody = hop.method === 'GET' || head.status === 307 || head.status === 308;
    if (++this.#redirects > MAX_REDIRECTS) {
      this.#fail(notFetched(`it redirects more than ${MAX_REDIRECTS} times`));
    } else if (isAway && keepsBody && hop.body.length > 0) {
      this.#fail(notFetched('it redirects a request with a body to another origin'));
    }
    const headers = Object.entries(hop.headers).filter(([name]) => !isAway || HARMLESS.has(name));
    return {
      url: to.href,
      method: keepsBody ? hop.method : 'GET',
      body: keepsBody ? hop.body : [],
      headers: Object.fromEntries(headers),
    };
  }

  #pass(bytes: Buffer): void {
    try {
      this.#request.taking?.(bytes.length);
    } catch (error) {
      return this.#fail(GatewayError.from(error));
    }
    this.#listener.data(bytes);
  }

  #end(): void {
    if (!this.#done && this.#finish()) this.#listener.end();
  }

  #fail(error: GatewayError): void {
    if (this.#finish()) this.#listener.failed(error);
  }

  /** False: it had already finished. */
  #finish(): boolean {
    if (this.#done) return false;
    this.#done = true;
    this.#stopClock();
    this.#call?.abort();
    return true;
  }
}

const FAILURES: Readonly<Record<TransportFailure, string>> = {
  connect: 'no connection could be made',
  stale: TEXTS.closedBeforeResponse,
  reset: TEXTS.closedBeforeResponse,
  cut: TEXTS.closedInResponse,
  protocol: 'its server does not speak HTTP/1.1',
};

function failureOf(failure: ReceiveFailure, message: string, maxBytes: number): GatewayError {
  if (failure === 'size') return tooLarge(maxBytes);
  return failure === 'coding' ? notFetched(message) : notFetched(FAILURES[failure], message);
}

/** @param cause for the log; may contain details that the client must not see */
function notFetched(reason: string, cause?: string): GatewayError {
  return new GatewayError('unsupported', TEXTS.notFetched(reason), {
    code: 'url_not_fetched',
    cause,
  });
}

function cancelled(): GatewayError {
  return new GatewayError('cancelled', 'The fetch was cancelled.');
}

function tooLarge(maxBytes: number): GatewayError {
  return new GatewayError('too_large', `The content of this URL is larger than ${maxBytes} bytes.`, {
    code: 'url_too_large',
  });
}
