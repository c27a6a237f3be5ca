// Stream to a client: its head, one write for what gathered, signs of life, and the hand on whoever writes faster than it reads.
// Knows nothing of what is in it.
import type { Attempt } from '../attempt/index.ts';
import type { Client, ClientStream, Encoding } from '../call.ts';
import type { UnixMs } from '../../base/units.ts';

/** Silence after which a stream gets a sign of life, in milliseconds: proxies must not think it dead. */
const KEEP_ALIVE_MS = 10_000;

/** Head of a form of stream, and its sign of life where a protocol has none of its own, or nothing was written yet. */
interface StreamForm {
  readonly form: Readonly<Record<string, string>>;
  readonly keepAlive: string;
}

const UNCACHED = { 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no' };

export const EVENT_STREAM: StreamForm = {
  form: { 'content-type': 'text/event-stream; charset=utf-8', ...UNCACHED },
  keepAlive: ': keep-alive\n\n',
};
/** One JSON array: white space may stand before and after each of its elements. */
export const ARRAY_STREAM: StreamForm = {
  form: { 'content-type': 'application/json', ...UNCACHED },
  keepAlive: '\n',
};

/** The answer that is written. */
export interface StreamSource {
  /** Maker of the stream, which pauses while the client reads slower. Undefined while there is none. */
  readonly by: Pick<Attempt, 'pause' | 'resume'> | undefined;
  /** Read once, when the stream begins. */
  readonly headers: Readonly<Record<string, string>>;
  /** The sign of life at this moment. */
  readonly keepAlive: string;
}

export class StreamWriter {
  /** Text and bytes since the last write. Relayed bytes, as a byte string, stand before the text. */
  bytes = '';
  text = '';
  readonly #client: Client;
  readonly #source: StreamSource;
  #stream: ClientStream | undefined;
  #isHeld = false;
  #lastWriteAt: UnixMs;
  /** Something was written since the last look, which notes when: nobody asks the clock for every write. */
  #wrote = false;

  constructor(client: Client, nowMs: UnixMs, source: StreamSource) {
    this.#client = client;
    this.#lastWriteAt = nowMs;
    this.#source = source;
  }

  get isOpen(): boolean {
    return this.#stream !== undefined;
  }

  /** Sends the head, once. */
  open(): void {
    if (this.#stream) return;
    this.#stream = this.#client.openStream(this.#source.headers);
    this.#stream.onDrain(() => this.#source.by?.resume());
  }

  /** Nothing more is written until the end: the last bytes wait until the records are safe. */
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

  /** Writes the rest, and ends a stream that has begun. */
  end(): void {
    this.#isHeld = false;
    this.flush();
    this.#stream?.end();
  }

  tick(nowMs: UnixMs): void {
    if (this.#wrote) this.#lastWriteAt = nowMs;
    this.#wrote = false;
    if (this.#isHeld || nowMs - this.#lastWriteAt < KEEP_ALIVE_MS) return;
    // Proxies give up without a first byte in time: the head goes out before it is known who will serve.
    this.open();
    this.#write(this.#source.keepAlive, 'text');
  }

  #write(data: string, encoding: Encoding): void {
    this.#wrote = true;
    if (this.#stream && !this.#stream.write(data, encoding)) this.#source.by?.pause();
  }
}
