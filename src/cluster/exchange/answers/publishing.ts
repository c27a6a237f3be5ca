// An answer that this process makes, told to others as it comes: begun when one of them reads it, or when it is complete. For
// the answer it is one more reader.
import type {
  Body,
  Client,
  ClientStream,
  Encoding,
  Publication,
  PublicAnswer,
} from '../../../engine/index.ts';
import { toByteString } from '../../../base/lib/byte-string.ts';
import {
  type AnswerClaim,
  type AnswerState,
  type AnswerReceipt,
  READER_MS,
  type Said,
} from '../answer-store.ts';
import type { AnswerHead, SealedFrames } from './sealed-frames.ts';
import type { DurationMs } from '../../../base/units.ts';

/** Most bytes of a frame. */
const FRAME_BYTES = 65_536;
/** Most bytes that wait to be told before the answer has to wait, too. */
const MOST_WAITING = 1_048_576;
/** How often something is said of an answer that is being made, in milliseconds. */
const RENEW_MS = 500;
/** How many frames go in one call. */
const MOST_FRAMES = 16;

export interface PublishingOptions {
  readonly claim: AnswerClaim;
  readonly frames: SealedFrames;
  /** Milliseconds that only go forward. */
  readonly elapsed: () => number;
  /** How long a complete answer is kept, and what all of them may weigh, in bytes. */
  readonly limits: () => { readonly ttlMs: DurationMs; readonly maxBytes: number };
  /** True: one process follows it, begins at once, and nobody has it later. */
  readonly isOnce: boolean;
}

export class Publishing implements Publication {
  /** True once there is nothing more to say. */
  isDone = false;
  readonly #options: PublishingOptions;
  #answer: PublicAnswer | null = null;
  #end: 'good' | 'failed' | null = null;
  #edition = 0;
  /** Reads the answer for the others; null while none of them does. */
  #reader: Reader | null = null;
  #saidAt: number;
  readonly #begunAt: number;

  constructor(options: PublishingOptions) {
    this.#options = options;
    this.#saidAt = this.#begunAt = options.elapsed();
  }

  /** True once the answer is over, and what is left of it can be said. */
  get isOver(): boolean {
    return this.#end !== null;
  }

  begin(answer: PublicAnswer): void {
    this.#answer = answer;
    if (this.#options.isOnce) this.#read();
  }

  end(good: boolean): void {
    this.#end = good ? 'good' : 'failed';
    // Also a failure is told to whoever has begun to wait since the last word.
    if (!this.#reader) this.#read();
  }

  /** Next frames to publish; null for none. */
  say(): Said | null {
    const { claim, elapsed, limits, isOnce } = this.#options;
    // Its frames stay for a moment, as those of an answer whose name is free again.
    if (isOnce && this.#reader?.isOver === true) this.#end ??= 'failed';
    // An answer that is not kept for readers here is not kept for other replicas either.
    if (this.#end === null && this.#answer?.isKept() === false) this.#leave();
    const reader = this.#reader;
    const isDue = elapsed() - this.#saidAt >= RENEW_MS;
    if (!isDue && this.#end === null && !reader?.hasFrames) return null;
    this.#saidAt = elapsed();
    const { ttlMs, maxBytes } = limits();
    const frames = reader?.frames(MOST_FRAMES) ?? [];
    return {
      ...claim,
      edition: this.#edition,
      at: reader?.published ?? 0,
      frames,
      state: this.#state(frames.length),
      keepsMs: ttlMs,
      mostChars: maxBytes,
    };
  }

  /** Takes the reply to the latest that was said. */
  take({ frames, state }: Said, receipt: AnswerReceipt): void {
    if (receipt === 'lost') return this.#stop();
    if (receipt === 'again') return this.#again();
    this.#reader?.was(frames.length);
    if (state === 'complete' || state === 'failed') return this.#stop();
    if (this.#end !== null) return;
    if (receipt === 'heard') this.#read();
    // Nobody elsewhere reads it any more: it need not be made for them.
    else if (!this.#options.isOnce) this.#leave();
    else if (this.#options.elapsed() - this.#begunAt > READER_MS) this.#stop();
  }

  #state(frames: number): AnswerState {
    const reader = this.#reader;
    if (this.#end === null) return this.#answer?.isKept() === false ? 'large' : 'running';
    if (reader && !(reader.isOver && reader.waiting === frames)) return 'running';
    return this.#end === 'good' && reader ? 'complete' : 'failed';
  }

  #read(): void {
    if (this.#reader || !this.#answer) return;
    const { claim, frames } = this.#options;
    const edition = this.#edition;
    const reader = new Reader((bytes, index) => frames.seal(bytes, { ...claim, edition, index }));
    this.#reader = reader;
    if (!this.#answer.join(reader)) this.#reader = null;
  }

  /** From the first frame: the store has lost those of before. */
  #again(): void {
    const before = this.#forget();
    this.#read();
    // Not earlier: an answer that nobody reads is not made any further.
    before?.leave();
  }

  #leave(): void {
    this.#forget()?.leave();
  }

  #forget(): Reader | null {
    const reader = this.#reader;
    if (!reader) return null;
    this.#reader = null;
    this.#edition += 1;
    return reader;
  }

  #stop(): void {
    this.isDone = true;
    this.#leave();
  }
}

/** Makes frames of what a client would get. */
class Reader implements Client, ClientStream {
  /** How many frames were told. */
  published = 0;
  /** True once there will be no more. */
  isOver = false;
  readonly #sealed: (bytes: string, index: number) => string;
  readonly #frames: string[] = [];
  #made = 0;
  /** Not yet in a frame. */
  #bytes = '';
  #isFull = false;
  #drained: (() => void) | undefined;
  #left: (() => void) | undefined;

  constructor(sealed: (bytes: string, index: number) => string) {
    this.#sealed = sealed;
  }

  get hasFrames(): boolean {
    return this.#frames.length > 0 || this.#bytes !== '';
  }

  /** Frames that were not told yet. */
  get waiting(): number {
    return this.#frames.length;
  }

  /** The first of those that were not told. */
  frames(most: number): readonly string[] {
    if (this.#bytes !== '') this.#add(this.#bytes);
    this.#bytes = '';
    return this.#frames.slice(0, most);
  }

  /** So many more were told. */
  was(published: number): void {
    this.#frames.splice(0, published);
    this.published += published;
    if (!this.#isFull || this.#waitingBytes >= MOST_WAITING) return;
    this.#isFull = false;
    this.#drained?.();
  }

  respond(status: number, headers: AnswerHead['headers'], body: Body): void {
    this.#begin({ status, headers, streamed: false });
    this.write(Buffer.from(body).toString('latin1'), 'bytes');
    this.end();
  }

  openStream(headers: AnswerHead['headers']): ClientStream {
    this.#begin({ status: 200, headers, streamed: true });
    return this;
  }

  onLeave(left: () => void): void {
    this.#left = left;
  }

  leave(): void {
    if (!this.isOver) this.#left?.();
  }

  write(data: string, encoding: Encoding): boolean {
    this.#bytes += encoding === 'bytes' ? data : toByteString(data);
    while (this.#bytes.length >= FRAME_BYTES) {
      this.#add(this.#bytes.slice(0, FRAME_BYTES));
      this.#bytes = this.#bytes.slice(FRAME_BYTES);
    }
    this.#isFull = this.#waitingBytes >= MOST_WAITING;
    return !this.#isFull;
  }

  onDrain(drained: () => void): void {
    this.#drained = drained;
  }

  end(): void {
    this.isOver = true;
  }

  get #waitingBytes(): number {
    return this.#frames.length * FRAME_BYTES;
  }

  #begin(head: AnswerHead): void {
    this.#add(Buffer.from(JSON.stringify(head)).toString('latin1'));
  }

  #add(bytes: string): void {
    this.#frames.push(this.#sealed(bytes, this.#made));
    this.#made += 1;
  }
}
