// How late the event loop was of late. Told at every look; knows no clock.

/** Looks that are remembered: those of 10 s, where it is looked every 100 ms. */
const LOOKS = 100;
const PERCENTILE = 0.99;

export class RecentDelay {
  readonly #late = new Float64Array(LOOKS);
  #next = 0;

  /** @param ms how late a look was, in milliseconds */
  note(ms: number): void {
    this.#late[this.#next % LOOKS] = ms;
    this.#next += 1;
  }

  /** The 99th percentile, in milliseconds. */
  get p99(): number {
    return this.#late.toSorted()[Math.ceil(LOOKS * PERCENTILE) - 1] ?? 0;
  }
}
