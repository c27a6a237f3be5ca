// Answers that are held back until they were checked against a format, or until they are complete.
import { type CanonicalEvent, Collector, MAX_ANSWER_BYTES } from '../../canonical/index.ts';
import type { Attempt, AttemptOutput } from '../attempt/index.ts';
import { type ByteAccount, HeldBytes } from '../call.ts';

/** Holds back an answer so that it can be checked before the client sees it. */
export class HeldAnswer implements AttemptOutput {
  readonly keeps = true;
  readonly collector = new Collector();

  commit(): void {}

  on(event: CanonicalEvent): void {
    this.collector.on(event);
  }

  relay(): void {}

  relayWhole(): void {}

  flush(): void {}

  finishing(): void {}
}

/**
 * Holds back a stream until it is complete, so that an interrupted answer can be discarded and another endpoint tried
 * (`provider.stream_safety: "buffer"`).
 */
export class BufferedAnswer implements AttemptOutput {
  /** False: this class accounts for its buffer itself. */
  readonly keeps = false;
  readonly #answer: AttemptOutput;
  readonly #events: CanonicalEvent[] = [];
  #by: Attempt | undefined;
  #relayed = '';
  #chars = 0;
  readonly #held: HeldBytes;

  constructor(answer: AttemptOutput, account: ByteAccount) {
    this.#answer = answer;
    this.#held = new HeldBytes(account);
  }

  commit(by: Attempt): void {
    this.#by = by;
  }

  on(event: CanonicalEvent): void {
    if ('text' in event) this.#count(event.text.length);
    this.#events.push(event);
  }

  relay(bytes: string): void {
    this.#count(bytes.length);
    this.#relayed += bytes;
  }

  relayWhole(): void {
    throw new TypeError('a complete response is not streamed');
  }

  flush(): void {}

  finishing(): void {
    if (!this.#by) return;
    this.#answer.commit(this.#by);
    for (const event of this.#events.splice(0)) this.#answer.on(event);
    if (this.#relayed !== '') this.#answer.relay(this.#relayed);
    this.#answer.finishing();
  }

  #count(chars: number): void {
    this.#chars += chars;
    this.#held.add(chars);
    if (this.#chars > MAX_ANSWER_BYTES)
      throw new RangeError(`the response is too large to be buffered: more than ${MAX_ANSWER_BYTES} bytes`);
  }
}
