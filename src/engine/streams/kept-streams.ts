// All kept streams of a process: found by id, forgotten after a while or where memory is short.
import type { Clock } from '../../base/runtime/clock.ts';
import { KeptStream, type KeptStreamOptions } from './kept-stream.ts';
import type { DurationMs } from '../../base/units.ts';

/** How many streams are remembered that are kept no more, to say why. */
const MOST_GONE = 10_000;
/** Cost of a stream besides its bytes; an estimate. */
const STREAM_BYTES = 2_048;

export interface StreamLimits {
  /** How long a stream is kept from its end. */
  readonly keepMs: DurationMs;
  /** All streams together. */
  readonly maxBytes: number;
}

/** Why a stream is kept no more. */
export type Gone = 'expired' | 'memory';

type NewStream = Omit<KeptStreamOptions, 'clock' | 'resized' | 'moved' | 'ended'>;

export class KeptStreams {
  /** Clients that read. */
  readers = 0;
  readonly #limits: () => StreamLimits;
  readonly #clock: Pick<Clock, 'now' | 'after'>;
  readonly #streams = new Map<string, KeptStream>();
  /** When each expires that has ended, in milliseconds of the clock; the earliest first. */
  readonly #ended = new Map<KeptStream, number>();
  readonly #gone = new Map<string, Gone>();
  #bytes = 0;
  /** Most bytes of all streams, as it was when the last one was opened: nobody asks for every write. */
  #mostBytes = 0;

  constructor(limits: () => StreamLimits, clock: Pick<Clock, 'now' | 'after'>) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** How many are kept, and what they weigh. */
  get size(): { readonly streams: number; readonly bytes: number } {
    return { streams: this.#streams.size, bytes: this.#bytes };
  }

  /** Begins to keep a stream. One of the same name is forgotten. */
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

  /** A stream of a project; why it is not kept, or null where nothing is known of it. */
  find(projectId: string, id: string): KeptStream | Gone | null {
    this.#expire();
    const stream = this.#streams.get(id);
    if (stream) return stream.projectId === projectId ? stream : null;
    return this.#gone.get(`${projectId}\n${id}`) ?? null;
  }

  /** Forgets a stream whose answer was deleted. Clients that read it now get the rest. */
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

  /** Forgets streams until the others fit: those that have ended first, the oldest first. */
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
