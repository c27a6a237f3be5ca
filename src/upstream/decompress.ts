// Answers are asked for uncompressed; some servers compress all the same. Undone as it streams, no faster than the result
// is taken, and only as far as it stands for an answer. How much may come out at all is the reader's business.
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

/** Takes compressed bytes. Whoever wants its result to wait pauses it instead of its source, which it pauses itself. */
export interface Decompressor extends ByteSink, Pausable {
  /** Forgets what it still holds: a few bytes may stand for gigabytes. */
  stop(): void;
}

/**
 * Most bytes that one compressed byte may stand for, beyond the first ones. Streams of models, with their envelopes that
 * repeat, come to 40 with gzip and 75 with Brotli and Zstandard; only text that repeats one word exceeds this, and that
 * ends before the bytes that are free.
 */
const MAX_RATIO = 200;
const FREE_BYTES = 4 * 1_048_576;
/** Bytes that come out at once: larger would hold the loop, smaller costs a round through the thread pool each. */
const CHUNK = { chunkSize: 64 * 1024 };
/** A frame may ask for a window of gigabytes. RFC 9659 section 3 allows 8 MB in HTTP. */
const WINDOW = { params: { [constants.ZSTD_d_windowLogMax]: 23 } };

const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', () => createGunzip(CHUNK)],
  ['x-gzip', () => createGunzip(CHUNK)],
  ['deflate', () => createInflate(CHUNK)],
  ['br', () => createBrotliDecompress(CHUNK)],
  ['zstd', () => createZstdDecompress({ ...CHUNK, ...WINDOW })],
]);

/**
 * A sink that decodes `content-encoding` before passing bytes on.
 * @param coding the header's value
 * @param source is paused while there is more of it than can be taken
 * @param failed called once, when the coding is unknown, the data are damaged, or they inflate too much
 * @returns undefined where nothing is compressed
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
        failed(`the upstream's ${name} data are more than ${MAX_RATIO} times as large as they came`);
      } else next.data(bytes);
    });
    stream.on('end', () => next.end());
    stream.on('error', () => failed(`the upstream's ${name} data are damaged`));
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
