// Works off together what the connections of one turn of the loop have begun to read: the beginning of an answer runs
// through much code, which the next one then finds in the processor's caches (`engine/cohort.ts` says more). What follows
// the beginning is worked off as it comes.
import { nextTurn } from '../runtime/clock.ts';

/** Who has read something. */
export interface Receiving {
  /** Works off what was put aside. */
  receive(): void;
}

export class Inbox {
  /** Requests whose answer has not begun. */
  #awaited = 0;
  #waiting: Receiving[] = [];

  /** An answer is waited for. */
  await(): void {
    this.#awaited++;
  }

  /** An answer has begun, or never will. */
  begun(): void {
    this.#awaited--;
  }

  /** True while no other answer can begin in the same turn. */
  get isQuiet(): boolean {
    return this.#awaited === 1;
  }

  /** Has it work off at the end of this turn. */
  add(receiving: Receiving): void {
    if (this.#waiting.push(receiving) === 1) nextTurn(this.#flush);
  }

  readonly #flush = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    let done = 0;
    try {
      for (; done < waiting.length; done++) waiting[done]?.receive();
    } finally {
      // A defect in one of them is not the others'.
      for (const receiving of waiting.slice(done + 1)) this.add(receiving);
    }
  };
}
