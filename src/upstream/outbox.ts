// Sends what the requests of one turn of the loop have to send together, at its end: each write wakes whoever takes it,
// which costs several times the write itself where that one had gone to sleep in between.
import { nextTurn } from '../runtime/clock.ts';

/** Who has something to send. */
export interface Sending {
  flush(): void;
}

export class Outbox {
  #waiting: Sending[] = [];

  /** Has it flushed at the end of this turn. */
  add(sending: Sending): void {
    if (this.#waiting.push(sending) === 1) nextTurn(this.#flush);
  }

  readonly #flush = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const sending of waiting) sending.flush();
  };
}
