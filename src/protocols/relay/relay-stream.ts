// Base class of relayed streams. Splits the bytes into events and holds them back until the first content, because
// until then another upstream can still answer. Subclasses interpret events and decide how the answer ends.
import { parseJson } from '../../base/json/index.ts';
import { MAX_HELD_BYTES, type FinishEvent, type GatewayError, type Usage } from '../../canonical/index.ts';
import { frameData, FrameSplitter } from '../streams/frame-splitter.ts';
import type { RelayFacts, RelayStream } from '../protocol.ts';

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

  /** Handles one event, including its blank line. @returns false if nothing after it belongs to the answer */
  protected abstract take(frame: string): boolean;

  /**
   * Called when the upstream closes; decides whether the answer was cut.
   * @returns the end of the stream for the client
   */
  protected abstract close(): string;

  /** Adds frames for the client. */
  protected add(frames: string): void {
    this.#held += frames;
  }

  push(bytes: string): string {
    this.#frames.push(bytes, this.#take);
    return this.#release();
  }

  end(): string {
    // An incomplete event is not forwarded.
    const last = this.#frames.end().trim();
    if (!this.done && parseJson(frameData(last)) !== undefined) this.take(`${last}\n\n`);
    const tail = this.close();
    return this.#release() + tail;
  }

  readonly #take = (frame: string): boolean => this.take(frame);

  /** Returns the bytes that may be sent now. @throws RangeError if too much is held back */
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
