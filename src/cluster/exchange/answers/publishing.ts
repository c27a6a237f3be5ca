// Publishes an answer of this process to others. Publishing starts when one of them reads it, or when it is complete. It
// acts as another reader of the answer.
import type {
  Body,
  Client,
  ClientStream,
  Encoding,
  Publication,
  PublicAnswer,
} from '../../../engine/index.ts';
import { toByteString } from '../../../base/lib/bytes.ts';
import {
  type AnswerClaim,
  type AnswerState,
  type AnswerReceipt,
  READER_MS,
  type AnswerUpdate,
} from '../answer-store.ts';
import type { AnswerHead, SealedFrames } from './sealed-frames.ts';
import type { DurationMs } from '../../../base/units.ts';

/** Maximum bytes of a frame. */
const FRAME_BYTES = 65_536;
/** Unpublished bytes at which the answer is paused. */
const MOST_WAITING = 1_048_576;
/** Milliseconds between two reports of a running answer. */
const RENEW_MS = 500;
/** Maximum number of frames per call. */
const MOST_FRAMES = 16;

export interface PublishingOptions {
  readonly claim: AnswerClaim;
  readonly frames: SealedFrames;
  /** Monotonic milliseconds. */
  readonly elapsed: () => number;
  /** Retention of a complete answer in milliseconds, and maximum size of all of them in bytes. */
  readonly limits: () => { readonly ttlMs: DurationMs; readonly maxBytes: number };
  /** True: exactly one process follows it, from the start, and it is not kept afterwards. */
  readonly isOnce: boolean;
}

export class Publishing implements Publication {
  /** True once everything is published. */
  isDone = false;
  readonly #options: PublishingOptions;
  #answer: PublicAnswer | null = null;
  #end: 'good' | 'failed' | null = null;
  #edition = 0;
  /** Reads the answer for other processes; null while it has no readers there. */
  #reader: Reader | null = null;
  #publishedAt: number;
  readonly #begunAt: number;

  constructor(options: PublishingOptions) {
    this.#options = options;
    this.#publishedAt = this.#begunAt = options.elapsed();
  }

  /** True once the answer has ended, so that its rest can be published. */
  get isOver(): boolean {
    return this.#end !== null;
  }

  begin(answer: PublicAnswer): void {
    this.#answer = answer;
    if (this.#options.isOnce) this.#read();
  }

  end(good: boolean): void {
    this.#end = good ? 'good' : 'failed';
    // Failures are published as well, for readers that arrived since the last report.
    if (!this.#reader) this.#read();
  }

  /** Next frames to publish; null for none. */
  takeUpdate(): AnswerUpdate | null {
    const { claim, elapsed, limits, isOnce } = this.#options;
    // As after a failure, its frames stay readable for a moment while the name is free.
    if (isOnce && this.#reader?.isOver === true) this.#end ??= 'failed';
    // An answer that is not kept in this process is not kept for other replicas either.
    if (this.#end === null && this.#answer?.isKept() === false) this.#leave();
    const reader = this.#reader;
    const isDue = elapsed() - this.#publishedAt >= RENEW_MS;
    if (!isDue && this.#end === null && !reader?.hasFrames) return null;
    this.#publishedAt = elapsed();
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

  /** Takes the response to the last report. */
  take({ frames, state }: AnswerUpdate, receipt: AnswerReceipt): void {
    if (receipt === 'lost') return this.#stop();
    if (receipt === 'again') return this.#again();
    this.#reader?.was(frames.length);
    if (state === 'complete' || state === 'failed') return this.#stop();
    if (this.#end !== null) return;
    if (receipt === 'heard') this.#read();
    // It has no more readers elsewhere.
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

  /** Publishes again from the first frame, because the store lost the earlier ones. */
  #again(): void {
    const before = this.#forget();
    this.#read();
    // Only now, because an answer without readers is cancelled.
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

/** Cuts the answer into frames, as a client of it. */
class Reader implements Client, ClientStream {
  /** Number of published frames. */
  published = 0;
  /** True once the answer has ended. */
  isOver = false;
  readonly #sealed: (bytes: string, index: number) => string;
  readonly #frames: string[] = [];
  #made = 0;
  /** Bytes that are not in a frame yet. */
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

  /** Number of unpublished frames. */
  get waiting(): number {
    return this.#frames.length;
  }

  /** First unpublished frames. */
  frames(most: number): readonly string[] {
    if (this.#bytes !== '') this.#add(this.#bytes);
    this.#bytes = '';
    return this.#frames.slice(0, most);
  }

  /** Marks frames as published. */
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
