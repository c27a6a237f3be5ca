// A stream that is kept while it is written and for some time afterwards, so that a client can resume it after a
// disconnect.
import type { ClientStream, Encoding, Client } from '../call.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { EventNumbers } from './event-numbers.ts';
import { SharedAnswer } from './shared-answer.ts';

/** Milliseconds for which a run without readers waits for another one. 0 stops it immediately. */
export type Patience = number;

export interface KeptStreamOptions {
  readonly id: string;
  readonly projectId: string;
  readonly headers: Readonly<Record<string, string>>;
  /** True: events get `id` lines. False: they contain numbers. */
  readonly writesIds: boolean;
  /** Number of the first event. */
  readonly first?: number;
  /** Number of events with which each try of a job begins. */
  readonly opening?: number;
  readonly patience: Patience;
  readonly clock: Pick<Clock, 'after'>;
  /** Called with the change of the kept bytes. */
  readonly resized: (stream: KeptStream, bytes: number) => void;
  readonly moved: (readers: number) => void;
  readonly ended: (stream: KeptStream) => void;
}

/** The client of a run that writes a stream. */
export class KeptStream implements ClientStream {
  readonly id: string;
  readonly projectId: string;
  /** True once it can no longer be found. */
  isForgotten = false;
  readonly #options: KeptStreamOptions;
  readonly #answer: SharedAnswer;
  readonly #numbers: EventNumbers;
  #stopWaiting: (() => void) | undefined;

  constructor(options: KeptStreamOptions) {
    this.id = options.id;
    this.projectId = options.projectId;
    this.#options = options;
    this.#numbers = new EventNumbers(options.writesIds, options.first);
    this.#answer = new SharedAnswer({
      resized: (bytes) => options.resized(this, bytes),
      moved: options.moved,
      abandoned: () => this.#abandoned(),
    });
    this.#answer.openStream(options.headers);
  }

  /** Bytes kept. */
  get bytes(): number {
    return this.#answer.bytes;
  }

  get hasEnded(): boolean {
    return this.#answer.hasEnded;
  }

  /** Number that the next event gets. */
  get next(): number {
    return this.#numbers.next;
  }

  /** Number of the first event. */
  get first(): number {
    return this.#numbers.first;
  }

  get opening(): number {
    return this.#options.opening ?? 0;
  }

  /** Everything written, as a byte string. Only available while it is kept. */
  text(): string {
    return this.#answer.chunks.join('');
  }

  /** Sends a client what it lacks, then the rest as it is written. @param after number of its last event; null: none */
  join(client: Client, after: number | null): void {
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
    const from =
      after === null ? { chunk: 0, skip: 0 } : this.#numbers.placeAfter(after, this.#answer.chunks);
    this.#answer.join(client, false, from);
  }

  /** False once the start is no longer available. */
  get isKept(): boolean {
    return this.#answer.isKept;
  }

  forget(): void {
    this.#answer.stopKeeping();
  }

  write(data: string, encoding: Encoding): boolean {
    return this.#answer.write(this.#numbers.take(data), encoding);
  }

  /** Tells those who read now that the run is alive. It is not kept: an answer may be silent for hours. @param comment whole frames */
  writeKeepAlive(comment: string): void {
    this.#answer.passOn(comment, 'text');
  }

  onDrain(drained: () => void): void {
    this.#answer.onDrain(drained);
  }

  onLeave(left: () => void): void {
    this.#answer.onLeave(left);
  }

  end(): void {
    this.#stopWaiting?.();
    this.#answer.end();
    this.#options.ended(this);
  }

  /** @returns true when the run continues */
  #abandoned(): boolean {
    const { patience, clock } = this.#options;
    if (patience <= 0) return false;
    if (patience !== Infinity) this.#stopWaiting = clock.after(patience, () => this.#answer.abandon());
    return true;
  }
}
