// Requests an answer stored at an upstream and passes it on as it arrives: a stream as events, anything else whole.
import { GatewayError, MAX_ANSWER_BYTES, MAX_ERROR_BYTES } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import { FrameSplitter } from '../../protocols/index.ts';
import type { Clock, Ticker, Ticking } from '../../base/runtime/clock.ts';
import type { UpstreamCall, UpstreamClient } from '../../upstream/client.ts';
import type { SignatureHeaders } from '../../upstream/credential.ts';
import type { ResponseHead } from '../../upstream/response-parser.ts';
import { type ByteAccount, HeldBytes } from '../call.ts';
import { type Operation, preparedEndpoint } from '../prepared-endpoint.ts';
import type { Timeouts } from '../settings.ts';
import { type AnswerReader, bodyReader } from './answer-reader.ts';
import { isStreamed, masked } from './event-reader.ts';
import { askEndpoint } from './ask-endpoint.ts';
import { brokenAnswer, receiveError } from './error-words.ts';
import type { UnixMs } from '../../base/units.ts';

/** Receives the upstream's answer. The last call is one of `whole`, `ended` or `failed`. */
export interface KeeperListener {
  /** A whole answer, or an error response. */
  whole(status: number, body: Buffer): void;
  /** Events of a stream from one read, in order, each a byte string with its blank line. */
  events(frames: readonly string[]): void;
  ended(): void;
  failed(error: GatewayError): void;
}

export interface KeeperAsking {
  readonly upstream: UpstreamClient;
  readonly clock: Pick<Clock, 'now'>;
  readonly ticker: Pick<Ticker, 'add' | 'remove'>;
  readonly timeouts: Pick<Timeouts, 'responseMs' | 'idleMs'>;
  /** Gateway key that the request is sent for. */
  readonly tenant: string;
  /** Memory account of buffered bytes. */
  readonly account: ByteAccount;
}

/**
 * Sends the request.
 * @throws GatewayError or TypeError when nothing could be sent; the listener is not called then
 */
export function sendToOwner(
  endpoint: Endpoint,
  operation: Operation,
  asking: KeeperAsking,
  listener: KeeperListener,
): UpstreamCall {
  const keeper = new OwnerCall(endpoint, asking, listener);
  keeper.ask(operation);
  return keeper;
}

class OwnerCall implements UpstreamCall, Ticking {
  readonly #endpoint: Endpoint;
  readonly #asking: KeeperAsking;
  readonly #listener: KeeperListener;
  readonly #kept: HeldBytes;
  #call: UpstreamCall | undefined;
  #signature: SignatureHeaders | undefined;
  #reader: AnswerReader | undefined;
  #lastAt: UnixMs;
  #tickerPlace = 0;
  #isPaused = false;
  #isOver = false;

  constructor(endpoint: Endpoint, asking: KeeperAsking, listener: KeeperListener) {
    this.#endpoint = endpoint;
    this.#asking = asking;
    this.#listener = listener;
    this.#kept = new HeldBytes(asking.account);
    this.#lastAt = asking.clock.now();
  }

  ask(operation: Operation): void {
    const { upstream, tenant, ticker } = this.#asking;
    const endpoint = this.#endpoint;
    const envelope = preparedEndpoint(endpoint).operation(operation);
    const outgoing = { envelope, body: [], tenant };
    this.#call = askEndpoint(
      endpoint,
      outgoing,
      upstream,
      {
        signed: (headers) => (this.#signature = headers),
        refused: (error) => this.#fail(error),
        head: (head) => this.#guard(() => (this.#reader = this.#readerOf(head))),
        data: (bytes) => this.#guard(() => this.#reader?.data(bytes)),
        end: () => this.#guard(() => this.#reader?.end()),
        failed: (failure, message) => this.#fail(receiveError(endpoint.slug, failure, message)),
      },
      // The reader limits the size; a stream has no known end.
      Infinity,
    );
    if (this.#isOver) this.#call.abort();
    else this.#tickerPlace = ticker.add(this);
  }

  abort(): void {
    this.#over();
    this.#call?.abort();
  }

  pause(): void {
    this.#isPaused = true;
    this.#call?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#lastAt = this.#asking.clock.now();
    this.#call?.resume();
  }

  #readerOf(head: ResponseHead): AnswerReader {
    const isStream = head.status < 300 && isStreamed(head.header('content-type'));
    const reader = isStream ? this.#eventReader() : this.#wholeReader(head.status);
    return masked(reader, preparedEndpoint(this.#endpoint).mask(this.#signature));
  }

  #wholeReader(status: number): AnswerReader {
    const reader = bodyReader(status < 300 ? MAX_ANSWER_BYTES : MAX_ERROR_BYTES, (body) => {
      this.#over();
      this.#listener.whole(status, body);
    });
    return {
      data: (bytes) => {
        this.#kept.add(bytes.length);
        reader.data(bytes);
      },
      end: () => reader.end(),
    };
  }

  #eventReader(): AnswerReader {
    const splitter = new FrameSplitter();
    return {
      data: (bytes) => {
        const frames: string[] = [];
        splitter.push(bytes.toString('latin1'), (frame) => frames.push(frame) > 0);
        if (frames.length > 0) this.#listener.events(frames);
      },
      end: () => {
        const last = splitter.end();
        if (last.trim() !== '') this.#listener.events([`${last}\n\n`]);
        this.#over();
        this.#listener.ended();
      },
    };
  }

  tick(now: UnixMs): void {
    const { timeouts } = this.#asking;
    if (this.#isPaused) return;
    const mostMs = this.#reader ? timeouts.idleMs : timeouts.responseMs;
    if (now - this.#lastAt <= mostMs) return;
    this.#fail(new GatewayError('timeout', `${this.#endpoint.slug}: no data for ${mostMs} ms`));
  }

  /** Ignores events of an aborted request. */
  #guard(run: () => void): void {
    if (this.#isOver) return;
    this.#lastAt = this.#asking.clock.now();
    try {
      run();
    } catch (thrown) {
      this.#fail(brokenAnswer(thrown));
    }
  }

  #fail(error: GatewayError): void {
    if (this.#isOver) return;
    this.abort();
    this.#listener.failed(error);
  }

  #over(): void {
    this.#isOver = true;
    this.#kept.release();
    this.#asking.ticker.remove(this, this.#tickerPlace);
  }
}
