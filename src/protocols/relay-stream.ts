// Relayed streams of all protocols, as far as they are alike: events are cut out of the bytes, one after the other looked
// at, and nothing goes out before the first content, for until then another upstream may still give the answer. A protocol
// says what an event means and how the answer ends.
import { parseJson } from '../base/json/index.ts';
import { MAX_HELD_BYTES, type FinishEvent, type GatewayError, type Usage } from '../canonical/index.ts';
import { frameData, FrameSplitter } from './frame-splitter.ts';
import type { RelayFacts, RelayStream } from './protocol.ts';

export abstract class PatchedStream implements RelayStream {
  protected readonly facts: RelayFacts;
  readonly #frames = new FrameSplitter();
  #held = '';
  upstreamId: string | undefined;
  usage: Usage | undefined;
  finish: FinishEvent | undefined;
  error: GatewayError | undefined;
  errorShown = false;
  outputChars = 0;
  committed = false;
  isEmpty = false;
  done = false;

  constructor(facts: RelayFacts) {
    this.facts = facts;
  }

  /** Takes one event, its blank line included. @returns false when nothing after it belongs to the answer */
  protected abstract take(frame: string): boolean;

  /** The upstream closed: judges whether the answer was cut. @returns what its end is for the client */
  protected abstract close(): string;

  /** Adds events that the client shall get. */
  protected add(frames: string): void {
    this.#held += frames;
  }

  push(bytes: string): string {
    this.#frames.push(bytes, this.#take);
    return this.#release();
  }

  end(): string {
    // Half an event is for no client.
    const last = this.#frames.end().trim();
    if (!this.done && parseJson(frameData(last)) !== undefined) this.take(`${last}\n\n`);
    const tail = this.close();
    return this.#release() + tail;
  }

  readonly #take = (frame: string): boolean => this.take(frame);

  /** Bytes that may go out now. Throws RangeError when too much is held back. */
  #release(): string {
    const frames = this.#held;
    if (this.committed) {
      this.#held = '';
      return frames;
    }
    if (frames.length > MAX_HELD_BYTES)
      throw new RangeError(`the stream begins with more than ${MAX_HELD_BYTES} bytes without content`);
    return '';
  }
}
