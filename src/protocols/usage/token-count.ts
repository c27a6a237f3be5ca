// Validates token counts of upstreams, which can be wrong or contradict each other.
import type { CountConflict, Usage } from '../../canonical/index.ts';
import { asNumber, isJsonObject, type JsonObject } from '../../base/json/index.ts';
import { MOST_COUNTED } from '../../canonical/index.ts';

/** Returns a count in tokens: an integer from 0 to `MOST_COUNTED`; 0 for values that are not numbers. */
export function tokenCount(value: unknown): number {
  return Math.floor(Math.min(Math.max(asNumber(value) ?? 0, 0), MOST_COUNTED));
}

/** Returns a count that may be missing; undefined also for negative values and values above `MOST_COUNTED`. */
export function statedCount(value: unknown): number | undefined {
  const count = asNumber(value);
  return count === undefined || count < 0 || count > MOST_COUNTED ? undefined : Math.floor(count);
}

/** Marks usage of an upstream that counts reasoning. */
export const COUNTS: Pick<Usage, 'countsReasoning'> = { countsReasoning: true };

/** True if an upstream has sent a count at all. */
export function isCounted(value: unknown): boolean {
  return asNumber(value) !== undefined;
}

/** Contradictions in the counts of one answer. Most answers have none. */
export class Conflicts {
  #found: CountConflict[] | undefined;

  /** Notes a count that differs from what the upstream sent. */
  note(count: string, said: number, counted: number): void {
    if (said !== counted) (this.#found ??= []).push({ count, said, counted });
  }

  /**
   * Returns the contradictions for the usage vector; undefined if there are none.
   * @param raw the upstream's own object; counts above `MOST_COUNTED` are added under their names there
   */
  foundIn(raw: JsonObject): Usage['inconsistent'] {
    this.#noteTooLarge(raw);
    for (const name in raw) {
      const part = raw[name];
      if (isJsonObject(part)) this.#noteTooLarge(part);
    }
    return this.#found;
  }

  #noteTooLarge(counts: JsonObject): void {
    for (const name in counts) {
      const said = asNumber(counts[name]);
      if (said !== undefined && said > MOST_COUNTED) this.note(name, said, MOST_COUNTED);
    }
  }
}

/**
 * A total that is split into classes. Some upstreams report more in one class than in total. The total is what they
 * charge, so the class is reduced to what is left, and the contradiction is noted.
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
   * Takes the tokens of a class that shares none with earlier classes.
   * @param count its name in a record
   * @returns `wanted`, or as much as is left
   */
  take(wanted: number, count: string): number {
    const taken = this.#taken(wanted);
    this.#conflicts.note(count, Math.max(wanted, 0), taken);
    return taken;
  }

  /** Takes the tokens of a class that can overlap with earlier ones, such as cached image tokens. */
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
