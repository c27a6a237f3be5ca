// An answer that another process makes, given to a reader here as it comes, and told once, whatever the store loses meanwhile.
import type { Client, ClientStream, FollowedEnd } from '../../../engine/index.ts';
import type { Asked, AnswerFrames } from '../answer-store.ts';
import type { AnswerHead, SealedFrames } from './sealed-frames.ts';

/** For how long nothing may be known of an answer before it counts as gone: its maker tells it again where the store lost it. */
const GONE_MS = 3500;

export interface FollowingOptions {
  readonly name: string;
  readonly run: string;
  readonly reader: Client;
  readonly frames: SealedFrames;
  /** Milliseconds that only go forward. */
  readonly elapsed: () => number;
}

export class Following {
  /** Resolves when the reader has all that it will get. */
  readonly ended: Promise<FollowedEnd>;
  readonly #options: FollowingOptions;
  readonly #end: (end: FollowedEnd) => void;
  #isOver = false;
  #edition = 0;
  #from = 0;
  #head: AnswerHead | null = null;
  #stream: ClientStream | null = null;
  #isFull = false;
  /** Pieces of an answer that is no stream. */
  #pieces: string[] = [];
  /** Bytes that the reader has. */
  #had = 0;
  /** The same of those that are told again. */
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

  /** Next question to the store; null while the reader has no room. */
  ask(): Asked | null {
    if (this.#isOver || this.#isFull) return null;
    const { name, run } = this.#options;
    return { name, run, edition: this.#edition, from: this.#from };
  }

  /** Nobody could be asked. */
  unanswered(): void {
    if (this.#options.elapsed() - this.#knownAt > GONE_MS) this.#finish('gone');
  }

  /** Takes the reply to the latest question. */
  take({ state, edition, frames, count }: AnswerFrames): void {
    if (this.#isOver) return;
    if (state === 'gone') return this.unanswered();
    if (state === 'large') return this.#finish('gone');
    this.#knownAt = this.#options.elapsed();
    if (edition !== this.#edition) {
      this.#edition = edition;
      this.#from = 0;
      this.#toSkip = this.#had;
    }
    for (const frame of frames) if (!this.#takeFrame(frame)) return this.#finish('gone');
    if (state !== 'running' && this.#from === count) this.#complete(state === 'complete' ? 'good' : 'failed');
  }

  /** False for a frame that is none of this answer. */
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
    this.#had += rest.length;
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
