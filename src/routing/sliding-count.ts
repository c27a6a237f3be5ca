// How many events there were lately, exactly and in fixed memory. Knows nothing of what is counted.

const SLOTS = 10;

/** Events of the last tenth of a window, up to now, and of the nine tenths before it. */
export class SlidingCount {
  readonly #counts = new Uint32Array(SLOTS);
  #slotMs = 0;
  /** Number of the newest slot since the epoch. */
  #newest = 0;

  /** One more event. @param nowMs Unix milliseconds @param windowMs length of the window */
  add(nowMs: number, windowMs: number): void {
    this.#move(nowMs, windowMs);
    const at = this.#newest % SLOTS;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
  }

  /** Events in the window that ends now. @param nowMs Unix milliseconds @param windowMs length of the window */
  total(nowMs: number, windowMs: number): number {
    this.#move(nowMs, windowMs);
    let total = 0;
    for (const count of this.#counts) total += count;
    return total;
  }

  clear(): void {
    this.#counts.fill(0);
  }

  /** Empties the slots that time has left behind; all of them when the window's length was changed. */
  #move(nowMs: number, windowMs: number): void {
    const slotMs = windowMs / SLOTS;
    const slot = Math.floor(nowMs / slotMs);
    if (slotMs !== this.#slotMs || slot >= this.#newest + SLOTS) {
      this.clear();
      this.#slotMs = slotMs;
      this.#newest = slot;
    }
    // A clock that was set back goes on in the newest slot.
    while (this.#newest < slot) {
      this.#newest += 1;
      this.#counts[this.#newest % SLOTS] = 0;
    }
  }
}
