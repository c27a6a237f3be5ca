// Hands a request to an upstream: straight away for almost all endpoints; first rewritten for those that host another
// vendor's protocol, and signed for those that no fixed header satisfies.
import type { Endpoint } from '../../catalog/index.ts';
import type { JsonValue } from '../../canonical/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import { editMembers } from '../../protocols/index.ts';
import type { Hosting } from '../../providers/index.ts';
import type {
  UpstreamCall,
  UpstreamClient,
  UpstreamListener,
  UpstreamRequest,
} from '../../upstream/client.ts';
import type { Credential, SignatureHeaders } from '../../upstream/credential.ts';
import type { ResponseHead } from '../../upstream/response-parser.ts';
import { connectionPool, type Identity } from './connection-pool.ts';
import { upstreamCredential } from './upstream-credential.ts';

/** Hears of an answer, and of what was added to its request. */
export interface SignedListener extends UpstreamListener {
  /** The request was signed, and is sent with these headers now. */
  signed?(headers: SignatureHeaders): void;
}

/** What of an endpoint decides how a request travels. */
export type Asked = Identity & Pick<Endpoint, 'hosting'>;

/**
 * Sends a request.
 * @param refused takes the error when the request cannot be signed; the listener hears nothing then
 */
export function sendUpstream(
  endpoint: Asked,
  given: Omit<UpstreamRequest, 'pool' | 'road'>,
  upstream: UpstreamClient,
  listener: SignedListener,
  refused: (error: GatewayError) => void,
): UpstreamCall {
  const pooled = { ...given, pool: connectionPool(endpoint), road: endpoint.road };
  const request = endpoint.hosting ? hosted(pooled, endpoint.hosting) : pooled;
  if (!endpoint.credential) return upstream.send(request, listener);
  const credential = upstreamCredential(endpoint.credential, upstream.by(endpoint.road));
  const call = new SignedCall(request, credential, upstream, listener, refused);
  call.start();
  return call;
}

/** The request as a host wants it: members in and out of the body, and headers that are members there. */
function hosted(request: UpstreamRequest, hosting: Hosting): UpstreamRequest {
  const headers: Record<string, string> = { ...request.headers, ...hosting.headers };
  const set: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(hosting.set ?? {})) if (value !== undefined) set[name] = value;
  for (const [header, member] of Object.entries(hosting.headerMembers ?? {})) {
    const value = headers[header];
    if (value === undefined) continue;
    delete headers[header];
    set[member] = value
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== '');
  }
  return {
    ...request,
    headers,
    body: editMembers(request.body, { set, remove: hosting.remove }),
  };
}

/** A call that may have to wait for its signature, and is sent once more where the first one was too old. */
class SignedCall implements UpstreamCall {
  /** Undefined once it will not be sent again. */
  #request: UpstreamRequest | undefined;
  readonly #credential: Credential;
  readonly #upstream: UpstreamClient;
  readonly #listener: SignedListener;
  readonly #refused: (error: GatewayError) => void;
  #call: UpstreamCall | undefined;
  #tries = 0;
  #aborted = false;
  #paused = false;

  constructor(
    request: UpstreamRequest,
    credential: Credential,
    upstream: UpstreamClient,
    listener: SignedListener,
    refused: (error: GatewayError) => void,
  ) {
    this.#request = request;
    this.#credential = credential;
    this.#upstream = upstream;
    this.#listener = listener;
    this.#refused = refused;
  }

  /** Throws GatewayError where it can be told at once that there is no signature. */
  start(): void {
    const request = this.#request;
    if (!request) return;
    const signedAt = this.#upstream.now();
    const added = this.#credential.headers({ ...request, method: 'POST' });
    if (!(added instanceof Promise)) return this.#send(request, added, signedAt);
    added.then(
      (signature) => this.#send(request, signature, this.#upstream.now()),
      (error: unknown) => {
        if (!this.#aborted) this.#refused(GatewayError.from(error));
      },
    );
  }

  abort(): void {
    this.#aborted = true;
    this.#call?.abort();
  }

  pause(): void {
    this.#paused = true;
    this.#call?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#call?.resume();
  }

  #send(request: UpstreamRequest, signature: SignatureHeaders, signedAt: number): void {
    // Nobody wants the answer any more.
    if (this.#aborted) return;
    const signed = { ...request, headers: { ...request.headers, ...signature } };
    const listener = this.#listener;
    listener.signed?.(signature);
    const isLast = !this.#credential.refused || ++this.#tries > 1;
    if (isLast) this.#request = undefined;
    this.#call = this.#upstream.send(
      signed,
      isLast ? listener : { ...listener, head: (head) => this.#head(head, signedAt) },
    );
    if (this.#paused) this.#call.pause();
  }

  /** The first answer. What was aborted says nothing more. */
  #head(head: ResponseHead, signedAt: number): void {
    if (this.#credential.refused?.(head, signedAt)) {
      this.#call?.abort();
      return this.start();
    }
    this.#request = undefined;
    this.#listener.head(head);
  }
}
