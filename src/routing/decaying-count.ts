// A count in which each event weighs less the longer ago it was. Knows nothing of what is counted.

/** After this time an event counts for half. */
const HALF_LIFE_MS = 5 * 60_000;

/** A sum of events, each halved every 5 minutes. */
export class DecayingCount {
  #count = 0;
  #at = 0;

  /** More events. @param nowMs Unix milliseconds */
  add(nowMs: number, events = 1): void {
    this.#count = this.at(nowMs) + events;
    this.#at = nowMs;
  }

  /** What is left of the events by now. @param nowMs Unix milliseconds */
  at(nowMs: number): number {
    // A clock that was set back must not make old events weigh more than one.
    return this.#count === 0 ? 0 : this.#count * 2 ** (-Math.max(0, nowMs - this.#at) / HALF_LIFE_MS);
  }
}
