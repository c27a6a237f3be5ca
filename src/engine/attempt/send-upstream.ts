// Hands a request to an upstream: straight away for almost all endpoints; signed first for those that no fixed header
// satisfies.
import type { Endpoint } from '../../catalog/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import { editMembers } from '../../protocols/index.ts';
import type { AttemptTape } from '../tape.ts';
import type {
  Sender,
  UpstreamCall,
  UpstreamClient,
  UpstreamListener,
  UpstreamRequest,
} from '../../upstream/client.ts';
import type { Credential, SignatureHeaders } from '../../upstream/credential.ts';
import { Destination } from '../../upstream/destination.ts';
import type { ResponseHead } from '../../upstream/response-parser.ts';
import { type Envelope, preparedEndpoint } from '../prepared-endpoint.ts';
import { upstreamCredential } from './upstream-credential.ts';

/** Hears how a request was signed. */
export interface Signing {
  /** It is sent with these headers now. */
  signed?(headers: SignatureHeaders): void;
  /** It cannot be signed: nobody hears of an answer. */
  refused(error: GatewayError): void;
}

/** A request to an endpoint, and on whose behalf it is sent. */
export interface Outgoing extends Pick<UpstreamRequest, 'tenant' | 'staleness' | 'lines'> {
  readonly envelope: Envelope;
  /** Byte string. */
  readonly body: string;
  /** Notes what goes out and what comes back; absent: nobody keeps that. */
  readonly tape?: AttemptTape | undefined;
}

type TimedSender = Pick<Sender, 'send' | 'now'>;

/** Sends a request. */
export function sendUpstream(
  endpoint: Endpoint,
  { envelope, body, tenant, staleness, lines, tape }: Outgoing,
  upstream: UpstreamClient,
  listener: UpstreamListener,
  signing: Signing,
): UpstreamCall {
  const { to, edits } = envelope;
  const { pool } = preparedEndpoint(endpoint);
  const request = { to, body: edits ? editMembers(body, edits) : body, pool, tenant, staleness, lines };
  const { credential, road } = endpoint;
  const sender = tape ? tape.over(upstream) : upstream;
  if (!credential) return sender.send(request, listener);
  const asker = { send: upstream.send.bind(upstream), now: upstream.now, road };
  const call = new SignedCall(request, upstreamCredential(credential, asker), sender, listener, signing);
  call.start();
  return call;
}

/** A call that may have to wait for its signature, and is sent once more where the first one was too old. */
class SignedCall implements UpstreamCall {
  /** Undefined once it will not be sent again. */
  #request: UpstreamRequest | undefined;
  readonly #credential: Credential;
  readonly #upstream: TimedSender;
  readonly #listener: UpstreamListener;
  readonly #signing: Signing;
  #call: UpstreamCall | undefined;
  #tries = 0;
  #aborted = false;
  #paused = false;

  constructor(
    request: UpstreamRequest,
    credential: Credential,
    upstream: TimedSender,
    listener: UpstreamListener,
    signing: Signing,
  ) {
    this.#request = request;
    this.#credential = credential;
    this.#upstream = upstream;
    this.#listener = listener;
    this.#signing = signing;
  }

  /** Throws GatewayError where it can be told at once that there is no signature. */
  start(): void {
    const request = this.#request;
    if (!request) return;
    const signedAt = this.#upstream.now();
    const { url, method, headers } = request.to;
    const added = this.#credential.headers({ method, url, headers, body: request.body });
    if (!(added instanceof Promise)) return this.#send(request, added, signedAt);
    added.then(
      (signature) => this.#send(request, signature, this.#upstream.now()),
      (error: unknown) => {
        if (!this.#aborted) this.#signing.refused(GatewayError.from(error));
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
    const { url, method, headers, road } = request.to;
    const to = new Destination({ url, method, road, headers: { ...headers, ...signature } });
    const listener = this.#listener;
    this.#signing.signed?.(signature);
    const isLast = !this.#credential.refused || ++this.#tries > 1;
    if (isLast) this.#request = undefined;
    this.#call = this.#upstream.send(
      { ...request, to },
      isLast
        ? listener
        : {
            connected: () => listener.connected(),
            head: (head) => this.#head(head, signedAt),
            data: (bytes) => listener.data(bytes),
            end: () => listener.end(),
            failed: (failure, message) => listener.failed(failure, message),
          },
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
