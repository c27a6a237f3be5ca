// Deletions of much, a little at a time: how long one holds the database is bounded by the clock, whatever its rows weigh.
import type { GroupCommit } from './group-commit.ts';

/** Milliseconds that a step may take with its commit: no other process can write meanwhile, and no event is handled. */
const WHOLE_MS = 2;
/** Milliseconds that it may delete before the commit: the least and the most. */
const LEAST_MS = 0.25;
const MOST_MS = 1;

export class ShortSteps {
  readonly #commits: GroupCommit;
  readonly #elapsedMs: () => number;
  /** Milliseconds that the next step deletes. A commit writes the changed pages, and rows that lie far apart change many. */
  #workMs = MOST_MS;

  /** @param elapsedMs milliseconds since some time, not set back by anybody */
  constructor(commits: GroupCommit, elapsedMs: () => number) {
    this.#commits = commits;
    this.#elapsedMs = elapsedMs;
  }

  /**
   * Runs one piece after another in one transaction, until there is none or a step's time is over; the first one always.
   * @param pieces each does a little when it is asked for, and says how many rows that was; asked again if the transaction
   * has to be done again
   * @returns how many rows it was altogether, once that is durable
   */
  async run(pieces: () => Iterable<number>): Promise<number> {
    let start = 0;
    const rows = await this.#commits.run(() => {
      start = this.#elapsedMs();
      return this.#some(pieces(), start + this.#workMs);
    });
    const isLong = this.#elapsedMs() - start > WHOLE_MS;
    this.#workMs = isLong ? Math.max(LEAST_MS, this.#workMs / 2) : Math.min(MOST_MS, this.#workMs * 1.25);
    return rows;
  }

  #some(pieces: Iterable<number>, endMs: number): number {
    let rows = 0;
    for (const done of pieces) {
      rows += done;
      if (this.#elapsedMs() >= endMs) break;
    }
    return rows;
  }
}
