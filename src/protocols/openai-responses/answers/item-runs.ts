// Parts of one upstream item, as far as they were emitted, with constant-time lookup by the upstream's index.

export type RunKind = 'text' | 'refusal';

/** One part of an item, as far as it was emitted. */
export interface Run {
  /** The upstream's index of the part. */
  readonly at: number;
  readonly kind: RunKind;
  /** Canonical number: the order in which parts began. */
  readonly part: number;
  text: string;
  annotations: number;
}

export class ItemRuns {
  #count = 0;
  /** Cache of the last part: lookups happen once per token, and nearly always for the same one. */
  #last: Run | undefined;
  readonly #byPlace = { text: new Map<number, Run>(), refusal: new Map<number, Run>() };
  /** First part whose index is beyond the finished list; null: none. Absent: not searched yet. */
  readonly #outOfRange: { text?: Run | null; refusal?: Run | null } = {};

  /** Returns the part with the upstream's index; created if it is new. */
  at(at: number, kind: RunKind): Run {
    if (this.#last?.at === at && this.#last.kind === kind) return this.#last;
    const known = this.#byPlace[kind].get(at);
    if (known) return (this.#last = known);
    const run: Run = { at, kind, part: this.#count++, text: '', annotations: 0 };
    this.#byPlace[kind].set(at, run);
    return (this.#last = run);
  }

  /**
   * Returns the part at an index of a finished item. Some servers number streamed parts beyond the finished list
   * (recorded from Bedrock: part 1 of a single one). Such a part is matched with the index that has none.
   * @param places number of parts of the finished item
   */
  final(at: number, places: number, kind: RunKind): Run {
    return this.#byPlace[kind].get(at) ?? this.#outOfRangeOf(places, kind) ?? this.at(at, kind);
  }

  /** Searched once: an item is finished once, and parts that are added later have a valid index. */
  #outOfRangeOf(places: number, kind: RunKind): Run | null {
    let outside = this.#outOfRange[kind];
    if (outside === undefined) {
      outside = null;
      for (const run of this.#byPlace[kind].values()) if (run.at >= places) outside ??= run;
      this.#outOfRange[kind] = outside;
    }
    return outside;
  }
}
