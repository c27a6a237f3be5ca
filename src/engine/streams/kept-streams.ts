// All kept streams of a process: found by id, and dropped after a time or when memory is short.
import type { Clock } from '../../base/runtime/clock.ts';
import { KeptStream, type KeptStreamOptions } from './kept-stream.ts';
import type { DurationMs } from '../../base/units.ts';

/** Maximum dropped streams whose reason is remembered. */
const MOST_GONE = 10_000;
/** Estimated overhead of a stream, in addition to its bytes. */
const STREAM_BYTES = 2_048;

export interface StreamLimits {
  /** Time for which a stream is kept after its end. */
  readonly keepMs: DurationMs;
  /** Maximum bytes of all streams together. */
  readonly maxBytes: number;
}

/** Why a stream was dropped. */
export type Gone = 'expired' | 'memory';

type NewStream = Omit<KeptStreamOptions, 'clock' | 'resized' | 'moved' | 'ended'>;

export class KeptStreams {
  /** Number of reading clients. */
  readers = 0;
  readonly #limits: () => StreamLimits;
  readonly #clock: Pick<Clock, 'now' | 'after'>;
  readonly #streams = new Map<string, KeptStream>();
  /** Expiry of ended streams on the monotonic clock, in milliseconds; earliest first. */
  readonly #ended = new Map<KeptStream, number>();
  readonly #gone = new Map<string, Gone>();
  #bytes = 0;
  /** Maximum bytes, read when the last stream was opened rather than at each write. */
  #mostBytes = 0;

  constructor(limits: () => StreamLimits, clock: Pick<Clock, 'now' | 'after'>) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Number and bytes of kept streams. */
  get size(): { readonly streams: number; readonly bytes: number } {
    return { streams: this.#streams.size, bytes: this.#bytes };
  }

  /** Opens a kept stream. Replaces one with the same id. */
  open(options: NewStream): KeptStream {
    this.#expire();
    this.#mostBytes = this.#limits().maxBytes;
    const before = this.#streams.get(options.id);
    if (before) this.#forget(before, null);
    const stream = new KeptStream({
      ...options,
      clock: this.#clock,
      resized: (of, bytes) => this.#resized(of, bytes),
      moved: (readers) => (this.readers += readers),
      ended: (of) => this.#hasEnded(of),
    });
    this.#streams.set(stream.id, stream);
    this.#bytes += STREAM_BYTES;
    return stream;
  }

  /** Finds a project's stream. Otherwise the reason why it was dropped, or null if it is unknown. */
  find(projectId: string, id: string): KeptStream | Gone | null {
    this.#expire();
    const stream = this.#streams.get(id);
    if (stream) return stream.projectId === projectId ? stream : null;
    return this.#gone.get(`${projectId}\n${id}`) ?? null;
  }

  /** Drops a stream whose answer was deleted. Clients that are reading it still get the rest. */
  delete(projectId: string, id: string): void {
    const stream = this.#streams.get(id);
    if (stream?.projectId === projectId) this.#forget(stream, null);
  }

  #hasEnded(stream: KeptStream): void {
    if (this.#streams.get(stream.id) !== stream) return;
    this.#ended.set(stream, this.#clock.now() + this.#limits().keepMs);
    this.#expire();
  }

  #resized(stream: KeptStream, bytes: number): void {
    if (stream.isForgotten) return;
    this.#bytes += bytes;
    if (bytes > 0 && this.#bytes > this.#mostBytes) this.#makeRoom();
  }

  /** Drops streams until the others fit: ended ones first, oldest first. */
  #makeRoom(): void {
    const { maxBytes } = this.#limits();
    for (const streams of [this.#ended.keys(), this.#streams.values()])
      for (const stream of streams) {
        if (this.#bytes <= maxBytes) return;
        this.#forget(stream, 'memory');
      }
  }

  #expire(): void {
    const now = this.#clock.now();
    for (const [stream, at] of this.#ended) {
      if (at > now) return;
      this.#forget(stream, 'expired');
    }
  }

  #forget(stream: KeptStream, why: Gone | null): void {
    this.#bytes -= STREAM_BYTES + stream.bytes;
    this.#streams.delete(stream.id);
    this.#ended.delete(stream);
    stream.isForgotten = true;
    stream.forget();
    if (!why) return;
    this.#gone.set(`${stream.projectId}\n${stream.id}`, why);
    for (const first of this.#gone.keys()) {
      if (this.#gone.size <= MOST_GONE) return;
      this.#gone.delete(first);
    }
  }
}
