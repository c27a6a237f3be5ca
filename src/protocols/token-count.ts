// Token counts as upstreams write them, which may be wrong or contradict each other. Knows no members.
import type { CountConflict, Usage } from '../canonical/index.ts';
import { asNumber } from '../canonical/index.ts';

/** The count in tokens: never negative, never a fraction; 0 for what is no number. */
export function tokenCount(value: unknown): number {
  return Math.floor(Math.max(asNumber(value) ?? 0, 0));
}

/** What contradicts itself in the counts of one answer. Most answers have nothing of it. */
export class Conflicts {
  #found: CountConflict[] | undefined;

  /** Notes a count that is not counted as it was said. */
  note(count: string, said: number, counted: number): void {
    if (said !== counted) (this.#found ??= []).push({ count, said, counted });
  }

  /** What the usage vector tells of them; undefined where all agrees. */
  get found(): Usage['inconsistent'] {
    return this.#found;
  }
}

/**
 * A total that is split into classes. Some upstreams count more in one class than there are in all: the total is what
 * they charge by, so it holds, the class gets what is left of it, and that is noted.
 */
export class TokenRoom {
  /** What no class has taken. */
  left: number;
  readonly #total: number;
  readonly #conflicts: Conflicts;

  constructor(total: number, conflicts: Conflicts) {
    this.left = total;
    this.#total = total;
    this.#conflicts = conflicts;
  }

  /**
   * Takes a class that shares no token with those before.
   * @param count its name in a record
   * @returns what of `wanted` there is room for
   */
  take(wanted: number, count: string): number {
    const taken = this.#taken(wanted);
    this.#conflicts.note(count, Math.max(wanted, 0), taken);
    return taken;
  }

  /** The same for a class whose tokens may be among those already taken: pictures that were read from a cache. */
  takeRest(wanted: number, count: string): number {
    if (wanted > this.#total) this.#conflicts.note(count, wanted, this.#total);
    return this.#taken(wanted);
  }

  #taken(wanted: number): number {
    const taken = Math.max(Math.min(wanted, this.left), 0);
    this.left -= taken;
    return taken;
  }
}
