// Large deletions in short steps. Each step is limited by time instead of rows, because rows differ in cost.
import type { GroupCommit } from './group-commit.ts';

/** Maximum milliseconds of a step with its commit. It blocks the event loop and writes of other processes. */
const WHOLE_MS = 2;
/** Minimum and maximum milliseconds of deleting before the commit. */
const LEAST_MS = 0.25;
const MOST_MS = 1;

export class ShortSteps {
  readonly #commits: GroupCommit;
  readonly #elapsedMs: () => number;
  /**
   * Milliseconds of the next step. Adapted, because a commit of rows that are far apart writes many pages and takes
   * longer.
   */
  #workMs = MOST_MS;

  /** @param elapsedMs monotonic clock in milliseconds */
  constructor(commits: GroupCommit, elapsedMs: () => number) {
    this.#commits = commits;
    this.#elapsedMs = elapsedMs;
  }

  /**
   * Runs pieces in one transaction until none is left or the time of the step is over, but at least one.
   * @param pieces each does some work when it is iterated; called again if the transaction is retried
   * @returns those that ran, once they are durable
   */
  async run<Piece>(pieces: () => Iterable<Piece>): Promise<readonly Piece[]> {
    let start = 0;
    const done = await this.#commits.run(() => {
      start = this.#elapsedMs();
      return this.#some(pieces(), start + this.#workMs);
    });
    const isLong = this.#elapsedMs() - start > WHOLE_MS;
    this.#workMs = isLong ? Math.max(LEAST_MS, this.#workMs / 2) : Math.min(MOST_MS, this.#workMs * 1.25);
    return done;
  }

  #some<Piece>(pieces: Iterable<Piece>, endMs: number): readonly Piece[] {
    const done: Piece[] = [];
    for (const piece of pieces) {
      done.push(piece);
      if (this.#elapsedMs() >= endMs) break;
    }
    return done;
  }
}
