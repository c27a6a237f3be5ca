// Sends a request to an upstream, signed if needed, and receives its answer decompressed and bounded, in pieces or whole. All
// requests to upstreams go through this file.
import type { UpstreamCall, UpstreamListener, UpstreamRequest, TransportFailure } from './client.ts';
import type { Credential } from './credential.ts';
import { SignedCall, type Signing, type TimedSender } from './signed-call.ts';
import { TEXTS } from '../canonical/index.ts';
import { joined } from '../base/lib/bytes.ts';
import { type Decompressor, decompressing } from './decompress.ts';
import type { ResponseHead } from './response-parser.ts';

export interface Question extends UpstreamRequest {
  /** Maximum bytes of the answer, both received and decoded. */
  readonly maxBytes: number;
  /** Signs the request. Absent: fixed headers suffice. */
  readonly credential?: Credential | undefined;
}

/** Receives an answer in pieces. */
export interface AnswerReceiver extends AnswerListener<[failure: ReceiveFailure, message: string]>, Signing {}

type Send = (listener: UpstreamListener) => UpstreamCall;

/**
 * Sends a request.
 * @param client supplies connections; needs no clock unless it signs
 * @param between wraps the listener of the connection. Absent: none
 * @throws GatewayError when signing fails immediately; TypeError for an invalid URL
 */
export function ask(
  question: Question,
  client: TimedSender,
  answerReceiver: AnswerReceiver,
  between: (listener: UpstreamListener, send: Send) => UpstreamCall = (listener, send) => send(listener),
): UpstreamCall {
  const { credential, maxBytes } = question;
  const send: Send = credential
    ? (listener) => SignedCall.start(question, credential, client, listener, answerReceiver)
    : (listener) => client.send(question, listener);
  return receive((listener) => between(listener, send), answerReceiver, maxBytes);
}

/** Failure of a whole answer. `signature`: signing failed. */
export type WholeFailure = [failure: ReceiveFailure | 'signature', message: string];

/** Sends a request and collects the whole answer. Throws what `ask` throws. */
export function askWhole(question: Question, client: TimedSender): Collecting<WholeFailure> {
  return collect<WholeFailure>((answerReceiver) =>
    ask(question, client, {
      ...answerReceiver,
      refused: ({ message }) => answerReceiver.failed('signature', message),
    }),
  );
}

/** `coding`: decompression failed. `size`: the limit was exceeded. */
export type ReceiveFailure = TransportFailure | 'coding' | 'size';

/** Receives an answer. */
export interface AnswerListener<Failure extends readonly unknown[]> {
  /** The request was passed to a connection. */
  connected?(): void;
  head(head: ResponseHead): void;
  data(bytes: Buffer): void;
  /** Exactly one of `end` and `failed` is called, unless the call was aborted. */
  end(): void;
  failed(...failure: Failure): void;
}

/**
 * Sends a request and receives its answer.
 * @param send passes the request to a connection
 * @param maxBytes maximum bytes, both received and decompressed
 */
function receive(
  send: (listener: UpstreamListener) => UpstreamCall,
  listener: AnswerListener<[failure: ReceiveFailure, message: string]>,
  maxBytes: number,
): UpstreamCall {
  const receiver = new Receiver(listener, maxBytes);
  receiver.attach(send(receiver));
  return receiver;
}

class Receiver implements UpstreamCall, UpstreamListener {
  readonly #listener: AnswerListener<[failure: ReceiveFailure, message: string]>;
  readonly #maxBytes: number;
  #call: UpstreamCall | undefined;
  #decompressor: Decompressor | undefined;
  #received = 0;
  #passed = 0;
  #isPaused = false;
  #isBodyOver = false;
  #isOver = false;

  constructor(listener: AnswerListener<[failure: ReceiveFailure, message: string]>, maxBytes: number) {
    this.#listener = listener;
    this.#maxBytes = maxBytes;
  }

  attach(call: UpstreamCall): void {
    this.#call = call;
    if (this.#isOver) call.abort();
    else if (this.#isPaused) call.pause();
  }

  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#decompressor?.stop();
    this.#call?.abort();
  }

  pause(): void {
    this.#isPaused = true;
    (this.#decompressor ?? this.#call)?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    (this.#decompressor ?? this.#call)?.resume();
  }

  connected(): void {
    if (!this.#isOver) this.#listener.connected?.();
  }

  head(head: ResponseHead): void {
    if (this.#isOver) return;
    // The body of a redirect is not read.
    const isRead = head.status < 300 || head.status >= 400;
    if (isRead && Number(head.header('content-length') ?? 0) > this.#maxBytes) return this.#tooLarge();
    const coding = head.header('content-encoding');
    // Very few answers are compressed.
    if (coding !== null) this.#decode(coding);
    this.#listener.head(head);
  }

  #decode(coding: string): void {
    const source = { pause: () => this.#call?.pause(), resume: () => this.#call?.resume() };
    const next = { data: (bytes: Buffer) => this.#pass(bytes), end: () => this.#end() };
    this.#decompressor = decompressing(coding, source, next, (message) => this.#fail('coding', message));
    if (this.#decompressor && this.#isPaused) {
      this.#decompressor.pause();
      this.#call?.resume();
    }
  }

  data(bytes: Buffer): void {
    if (this.#isOver) return;
    if (!this.#decompressor) return this.#pass(bytes);
    this.#received += bytes.length;
    if (this.#received > this.#maxBytes) this.#tooLarge();
    else this.#decompressor.data(bytes);
  }

  end(): void {
    this.#isBodyOver = true;
    if (this.#isOver) return;
    if (this.#decompressor) this.#decompressor.end();
    else this.#end();
  }

  failed(failure: TransportFailure, message: string): void {
    this.#fail(failure, message);
  }

  #pass(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#passed += bytes.length;
    if (this.#passed > this.#maxBytes) this.#tooLarge();
    else this.#listener.data(bytes);
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // Compressed content may end before the body does.
    if (!this.#isBodyOver) this.#call?.abort();
    this.#listener.end();
  }

  #tooLarge(): void {
    this.#fail('size', TEXTS.moreThanBytes(this.#maxBytes));
  }

  #fail(failure: ReceiveFailure, message: string): void {
    if (this.#isOver) return;
    this.abort();
    this.#listener.failed(failure, message);
  }
}

/** A whole answer. */
export interface WholeAnswer {
  readonly head: ResponseHead;
  readonly bytes: Buffer;
}

/** A pending answer. */
export interface Collecting<Failure extends readonly unknown[]> {
  /** Never rejects. `null`: aborted. */
  readonly outcome: Promise<WholeAnswer | { readonly failure: Failure } | null>;
  abort(): void;
}

/** Collects a whole answer. @param start starts receiving; its exceptions are thrown */
export function collect<Failure extends readonly unknown[]>(
  start: (listener: AnswerListener<Failure>) => UpstreamCall,
): Collecting<Failure> {
  const { promise, resolve } = Promise.withResolvers<Awaited<Collecting<Failure>['outcome']>>();
  const pieces: Buffer[] = [];
  let head: ResponseHead | undefined;
  const call = start({
    head: (begun) => (head = begun),
    data: (bytes) => pieces.push(bytes),
    end: () => resolve(head ? { head, bytes: joined(pieces) } : null),
    failed: (...failure) => resolve({ failure }),
  });
  return {
    outcome: promise,
    abort() {
      call.abort();
      resolve(null);
    },
  };
}
