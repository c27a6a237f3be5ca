// Recent delays of the event loop, as a percentile.

/** Number of remembered samples: 10 s at one every 100 ms. */
const LOOKS = 100;
const PERCENTILE = 0.99;

export class RecentDelay {
  readonly #late = new Float64Array(LOOKS);
  #next = 0;

  /** Adds a sample. @param ms delay in milliseconds */
  note(ms: number): void {
    this.#late[this.#next % LOOKS] = ms;
    this.#next += 1;
  }

  /** 99th percentile in milliseconds. */
  get p99(): number {
    return this.#late.toSorted()[Math.ceil(LOOKS * PERCENTILE) - 1] ?? 0;
  }
}
