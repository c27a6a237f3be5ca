// Token counts as upstreams write them, which may be wrong or contradict each other. Knows no members.
import type { CountConflict, Usage } from '../canonical/index.ts';
import { asNumber, isJsonObject, type JsonObject } from '../base/json/index.ts';
import { MOST_COUNTED } from '../canonical/index.ts';

/** The count in tokens: never negative, never a fraction, at most `MOST_COUNTED`; 0 for what is no number. */
export function tokenCount(value: unknown): number {
  return Math.floor(Math.min(Math.max(asNumber(value) ?? 0, 0), MOST_COUNTED));
}

/** A count that may be missing. Undefined also for what can be none: negative, or larger than `MOST_COUNTED`. */
export function statedCount(value: unknown): number | undefined {
  const count = asNumber(value);
  return count === undefined || count < 0 || count > MOST_COUNTED ? undefined : Math.floor(count);
}

/** Mark of usage whose upstream counts reasoning. */
export const COUNTS: Pick<Usage, 'countsReasoning'> = { countsReasoning: true };

/** Whether an upstream has written a count at all. */
export function isCounted(value: unknown): boolean {
  return asNumber(value) !== undefined;
}

/** Contradictions in the counts of one answer. Most answers have none. */
export class Conflicts {
  #found: CountConflict[] | undefined;

  /** Notes a count that is not counted as it was said. */
  note(count: string, said: number, counted: number): void {
    if (said !== counted) (this.#found ??= []).push({ count, said, counted });
  }

  /**
   * Note of them in the usage vector; undefined where all agrees.
   * @param raw the upstream's own object: counts of it that are larger than any answer are noted by their names there
   */
  foundIn(raw: JsonObject): Usage['inconsistent'] {
    this.#noteHuge(raw);
    for (const name in raw) {
      const part = raw[name];
      if (isJsonObject(part)) this.#noteHuge(part);
    }
    return this.#found;
  }

  #noteHuge(counts: JsonObject): void {
    for (const name in counts) {
      const said = asNumber(counts[name]);
      if (said !== undefined && said > MOST_COUNTED) this.note(name, said, MOST_COUNTED);
    }
  }
}

/**
 * A total that is split into classes. Some upstreams count more in one class than there are in all: the total is what
 * they charge by, so it holds, the class gets what is left of it, and that is noted.
 */
export class TokenRoom {
  /** Tokens that no class has taken. */
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
