// A request that is signed before it is sent.
import { GatewayError } from '../canonical/index.ts';
import {
  type Sender,
  type UpstreamCall,
  type UpstreamListener,
  type UpstreamRequest,
  Destination,
} from './client.ts';
import type { Credential, SignatureHeaders } from './credential.ts';
import type { ResponseHead } from './response-parser.ts';
import type { UnixMs } from '../base/units.ts';

export type TimedSender = Pick<Sender, 'send' | 'now' | 'wall'>;

/** Receives the result of signing. */
export interface Signing {
  /** The request is sent with these headers now. */
  signed?(headers: SignatureHeaders): void;
  /** Signing failed; there will be no answer. */
  refused?(error: GatewayError): void;
}

/** A call that may wait for its signature, and is sent again if the signature was refused as expired. */
export class SignedCall implements UpstreamCall {
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

  /** Sends it. Throws GatewayError when signing fails immediately. */
  static start(...parts: ConstructorParameters<typeof SignedCall>): SignedCall {
    const call = new SignedCall(...parts);
    call.#start();
    return call;
  }

  #start(): void {
    const request = this.#request;
    if (!request) return;
    const signedAt = this.#upstream.now();
    const { url, method, headers } = request.to;
    const added = this.#credential.headers({ method, url, headers, body: request.body });
    if (!(added instanceof Promise)) return this.#send(request, added, signedAt);
    added.then(
      (signature) => this.#send(request, signature, this.#upstream.now()),
      (error: unknown) => {
        if (!this.#aborted) this.#signing.refused?.(GatewayError.from(error));
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

  #send(request: UpstreamRequest, signature: SignatureHeaders, signedAt: UnixMs): void {
    // The answer is no longer needed.
    if (this.#aborted) return;
    const { url, method, headers, networkRoute } = request.to;
    const to = new Destination({ url, method, networkRoute, headers: { ...headers, ...signature } });
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

  /** Head of the first answer. Not called after an abort. */
  #head(head: ResponseHead, signedAt: UnixMs): void {
    if (this.#credential.refused?.(head, signedAt)) {
      this.#call?.abort();
      return this.#start();
    }
    this.#request = undefined;
    this.#listener.head(head);
  }
}
