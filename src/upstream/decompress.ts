// Decompression of answers, because some servers compress although uncompressed answers are requested. Streams with
// backpressure and a bounded compression ratio. The reader limits the total size.
import type { Transform } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib';

export interface ByteSink {
  data(bytes: Buffer): void;
  end(): void;
}

/** Source of compressed bytes. */
export interface Pausable {
  pause(): void;
  resume(): void;
}

/** Receives compressed bytes. Consumers pause it instead of its source, which it pauses itself. */
export interface Decompressor extends ByteSink, Pausable {
  /** Discards buffered data, because a few bytes may expand to gigabytes. */
  stop(): void;
}

/**
 * Maximum compression ratio after the first `FREE_BYTES`. Model streams with repeated envelopes reach 40 with gzip and
 * 75 with Brotli and Zstandard. Only text that repeats one word exceeds the limit, and it ends before `FREE_BYTES`.
 */
const MAX_RATIO = 200;
const FREE_BYTES = 4 * 1_048_576;
/** Output chunk size: larger ones block the event loop, smaller ones each cost a round trip to the thread pool. */
const CHUNK = { chunkSize: 64 * 1024 };
/** A frame may request a window of gigabytes. RFC 9659 section 3 allows 8 MB in HTTP. */
const WINDOW = { params: { [constants.ZSTD_d_windowLogMax]: 23 } };

const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', () => createGunzip(CHUNK)],
  ['x-gzip', () => createGunzip(CHUNK)],
  ['deflate', () => createInflate(CHUNK)],
  ['br', () => createBrotliDecompress(CHUNK)],
  ['zstd', () => createZstdDecompress({ ...CHUNK, ...WINDOW })],
]);

/**
 * Returns a sink that decodes `content-encoding`.
 * @param coding the header's value
 * @param source paused while its data cannot be processed
 * @param failed called once, when the coding is unknown, the data is corrupt, or the ratio is exceeded
 * @returns undefined: not compressed
 */
export function decompressing(
  coding: string | null,
  source: Pausable,
  next: ByteSink,
  failed: (message: string) => void,
): Decompressor | undefined {
  const name = coding?.toLowerCase().trim() ?? '';
  if (name === '' || name === 'identity') return undefined;
  const create = DECODERS.get(name);
  if (create) return new Inflating(name, create(), source, next, failed);
  const refuse = (): void => failed(`unknown content-encoding ${name.slice(0, 100)}`);
  const nothing = (): void => {};
  return { data: refuse, end: refuse, pause: nothing, resume: nothing, stop: nothing };
}

class Inflating implements Decompressor {
  readonly #stream: Transform;
  readonly #source: Pausable;
  #taken = 0;
  #passed = 0;
  #isFull = false;

  constructor(
    name: string,
    stream: Transform,
    source: Pausable,
    next: ByteSink,
    failed: (message: string) => void,
  ) {
    this.#stream = stream;
    this.#source = source;
    stream.on('data', (bytes: Buffer) => {
      this.#passed += bytes.length;
      if (this.#passed > FREE_BYTES && this.#passed > this.#taken * MAX_RATIO) {
        stream.destroy();
        failed(`the upstream's ${name} data expand to more than ${MAX_RATIO} times their compressed size`);
      } else next.data(bytes);
    });
    stream.on('end', () => next.end());
    stream.on('error', () => failed(`the upstream's ${name} data are corrupt`));
    stream.on('drain', () => this.#drained());
  }

  data(bytes: Buffer): void {
    this.#taken += bytes.length;
    if (this.#stream.destroyed || this.#stream.write(bytes) || this.#isFull) return;
    this.#isFull = true;
    this.#source.pause();
  }

  end(): void {
    if (!this.#stream.destroyed) this.#stream.end();
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  stop(): void {
    this.#stream.destroy();
  }

  #drained(): void {
    if (!this.#isFull) return;
    this.#isFull = false;
    this.#source.resume();
  }
}
