// Stream to a client: sends the head, joins output into one write, sends keep-alives, and pauses the source while the
// client reads slowly.
import { EVENT_STREAM_TYPE } from '../../base/lib/event-stream.ts';
import type { Attempt } from '../attempt/index.ts';
import type { Client, ClientStream, Encoding } from '../call.ts';
import type { UnixMs } from '../../base/units.ts';

/** Milliseconds of silence after which a keep-alive is sent, so that proxies do not close the connection. */
const KEEP_ALIVE_MS = 10_000;

/**
 * Head and default keep-alive of one form of stream. The keep-alive is used if the protocol has none, or nothing was
 * written yet.
 */
interface StreamForm {
  readonly form: Readonly<Record<string, string>>;
  readonly keepAlive: string;
}

const UNCACHED = { 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' };

export const EVENT_STREAM: StreamForm = {
  form: { 'content-type': EVENT_STREAM_TYPE, ...UNCACHED },
  keepAlive: ': keep-alive\n\n',
};
/** One JSON array: white space is allowed around each element. */
export const ARRAY_STREAM: StreamForm = {
  form: { 'content-type': 'application/json', ...UNCACHED },
  keepAlive: '\n',
};

/** The answer that is written. */
export interface StreamSource {
  /** Producer of the stream, paused while the client reads slowly. Undefined: none yet. */
  readonly by: Pick<Attempt, 'pause' | 'resume'> | undefined;
  /** Read once, when the stream begins. */
  readonly headers: Readonly<Record<string, string>>;
  /** Keep-alive to send now. */
  readonly keepAlive: string;
}

export class StreamWriter {
  /** Output since the last write. Relayed bytes, as a byte string, precede the text. */
  bytes = '';
  text = '';
  readonly #client: Client;
  readonly #source: StreamSource;
  #stream: ClientStream | undefined;
  #isHeld = false;
  #lastWriteAt: UnixMs;
  /**
   * True: something was written since the last tick, which sets the time. This avoids reading the clock for each write.
   */
  #wrote = false;

  constructor(client: Client, nowMs: UnixMs, source: StreamSource) {
    this.#client = client;
    this.#lastWriteAt = nowMs;
    this.#source = source;
  }

  get isOpen(): boolean {
    return this.#stream !== undefined;
  }

  /** Sends the head once. */
  open(): void {
    if (this.#stream) return;
    this.#stream = this.#client.openStream(this.#source.headers);
    this.#stream.onDrain(() => this.#source.by?.resume());
  }

  /** Writes nothing more until the end, because the last bytes wait until the records are stored. */
  hold(): void {
    this.#isHeld = true;
  }

  flush(): void {
    if (this.#isHeld) return;
    if (this.bytes !== '') {
      const { bytes } = this;
      this.bytes = '';
      this.#write(bytes, 'bytes');
    }
    if (this.text !== '') {
      const { text } = this;
      this.text = '';
      this.#write(text, 'text');
    }
  }

  /** Writes the rest and ends a stream that has begun. */
  end(): void {
    this.#isHeld = false;
    this.flush();
    this.#stream?.end();
  }

  tick(nowMs: UnixMs): void {
    if (this.#wrote) this.#lastWriteAt = nowMs;
    this.#wrote = false;
    if (this.#isHeld || nowMs - this.#lastWriteAt < KEEP_ALIVE_MS) return;
    // Proxies time out without a first byte, so the head is sent before the endpoint is known.
    this.open();
    this.#write(this.#source.keepAlive, 'text');
  }

  #write(data: string, encoding: Encoding): void {
    this.#wrote = true;
    if (this.#stream && !this.#stream.write(data, encoding)) this.#source.by?.pause();
  }
}
