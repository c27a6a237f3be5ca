// Follows an answer that another process produces, and passes it to a local reader exactly once, even if the store loses
// its data in between.
import type { Client, ClientStream, FollowedEnd } from '../../../engine/index.ts';
import type { AnswerRead, AnswerFrames } from '../answer-store.ts';
import type { AnswerHead, SealedFrames } from './sealed-frames.ts';

/** Milliseconds after which an unknown answer counts as gone. Its process publishes it again if the store lost it. */
const GONE_MS = 3500;

export interface FollowingOptions {
  readonly name: string;
  readonly run: string;
  readonly reader: Client;
  readonly frames: SealedFrames;
  /** Monotonic milliseconds. */
  readonly elapsed: () => number;
}

export class Following {
  /** Resolves when the reader has received everything. */
  readonly ended: Promise<FollowedEnd>;
  readonly #options: FollowingOptions;
  readonly #end: (end: FollowedEnd) => void;
  #isOver = false;
  #edition = 0;
  #from = 0;
  #head: AnswerHead | null = null;
  #stream: ClientStream | null = null;
  #isFull = false;
  /** Pieces of an answer that is not streamed. */
  #pieces: string[] = [];
  /** Bytes that the reader has received. */
  #receivedBytes = 0;
  /** Received bytes to skip in a republished answer. */
  #toSkip = 0;
  #knownAt: number;

  constructor(options: FollowingOptions) {
    this.#options = options;
    this.#knownAt = options.elapsed();
    const { promise, resolve } = Promise.withResolvers<FollowedEnd>();
    this.ended = promise;
    this.#end = resolve;
    options.reader.onLeave(() => this.#finish('failed'));
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Next read of the store; null while the reader's buffer is full. */
  ask(): AnswerRead | null {
    if (this.#isOver || this.#isFull) return null;
    const { name, run } = this.#options;
    return { name, run, edition: this.#edition, from: this.#from };
  }

  /** Called if the store was unreachable. */
  unanswered(): void {
    if (this.#options.elapsed() - this.#knownAt > GONE_MS) this.#finish('gone');
  }

  /** Takes the response to the last read. */
  take({ state, edition, frames, count }: AnswerFrames): void {
    if (this.#isOver) return;
    if (state === 'gone') return this.unanswered();
    if (state === 'large') return this.#finish('gone');
    this.#knownAt = this.#options.elapsed();
    if (edition !== this.#edition) {
      this.#edition = edition;
      this.#from = 0;
      this.#toSkip = this.#receivedBytes;
    }
    for (const frame of frames) if (!this.#takeFrame(frame)) return this.#finish('gone');
    if (state !== 'running' && this.#from === count) this.#complete(state === 'complete' ? 'good' : 'failed');
  }

  /** @returns false for a frame that does not belong to this answer */
  #takeFrame(frame: string): boolean {
    const { frames } = this.#options;
    const place = { ...this.#options, edition: this.#edition, index: this.#from };
    this.#from += 1;
    if (place.index === 0) {
      const head = frames.openHead(frame, place);
      if (head && !this.#head) this.#begin(head);
      return head !== null;
    }
    const bytes = frames.open(frame, place);
    if (bytes === null) return false;
    const rest = bytes.slice(this.#toSkip);
    this.#toSkip -= bytes.length - rest.length;
    this.#receivedBytes += rest.length;
    if (rest === '') return true;
    if (!this.#stream) this.#pieces.push(rest);
    else if (!this.#stream.write(rest, 'bytes')) this.#isFull = true;
    return true;
  }

  #begin(head: AnswerHead): void {
    this.#head = head;
    if (!head.streamed) return;
    this.#stream = this.#options.reader.openStream(head.headers);
    this.#stream.onDrain(() => (this.#isFull = false));
  }

  #complete(end: FollowedEnd): void {
    const head = this.#head;
    if (!head) return this.#finish('gone');
    if (this.#stream) this.#stream.end();
    else
      this.#options.reader.respond(head.status, head.headers, Buffer.from(this.#pieces.join(''), 'latin1'));
    this.#finish(end);
  }

  #finish(end: FollowedEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#pieces = [];
    this.#end(end);
  }
}
