// Share of a turn of the loop that one connection may take. A client that sends many requests at once, without waiting for
// answers, has them all begun in the turn in which they arrive, and everybody else waits for that. Knows no requests.
import { nextTurn } from './clock.ts';

/** Requests that begin in one turn before anybody looks whose they are: so many clients may come together. */
const CROWD = 32;
/** Requests of one connection in a row, among those that follow. */
const MOST_IN_A_ROW = 32;

export class TurnShare {
  #begun = 0;
  #port: number | undefined;
  #inARow = 0;

  /** Counts a request that begins. @returns true when so many have begun in this turn that it matters whose they are */
  isCrowded(): boolean {
    this.#begun += 1;
    if (this.#begun === CROWD) nextTurn(() => (this.#begun = this.#inARow = 0));
    return this.#begun > CROWD;
  }

  /**
   * Asked for each request of a crowd.
   * @param port the other end's, which tells connections apart; undefined where it is gone
   * @returns true when this request is the last for its connection
   */
  isLast(port: number | undefined): boolean {
    this.#inARow = port !== undefined && port === this.#port ? this.#inARow + 1 : 1;
    this.#port = port;
    return this.#inARow > MOST_IN_A_ROW;
  }
}
