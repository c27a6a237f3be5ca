// The parts of one item of an upstream's answer, as far as they were passed on: found by the number that the upstream
// gives them, in no more time than it takes to look one up. Knows nothing of events.

export type RunKind = 'text' | 'refusal';

/** One part of an item, as far as it was emitted. */
export interface Run {
  /** The upstream's index of the part. */
  readonly at: number;
  readonly kind: RunKind;
  /** Its canonical number: the order in which parts began. */
  readonly part: number;
  text: string;
  annotations: number;
}

export class ItemRuns {
  #count = 0;
  /** Asked once per token, and nearly always for the same one. */
  #last: Run | undefined;
  readonly #byPlace = { text: new Map<number, Run>(), refusal: new Map<number, Run>() };
  /** The first part behind all places of a finished item, once it was looked for. */
  readonly #stray: { text?: Run | null; refusal?: Run | null } = {};

  /** The part with the upstream's index, made if it is new. */
  at(at: number, kind: RunKind): Run {
    if (this.#last?.at === at && this.#last.kind === kind) return this.#last;
    const known = this.#byPlace[kind].get(at);
    if (known) return (this.#last = known);
    const run: Run = { at, kind, part: this.#count++, text: '', annotations: 0 };
    this.#byPlace[kind].set(at, run);
    return (this.#last = run);
  }

  /**
   * The part that a finished item has at a place. Some servers number streamed parts past the end of the finished list
   * (recorded from Bedrock: part 1 of a single one): such a part is the one without a place of its own.
   * @param places how many parts the finished item has
   */
  final(at: number, places: number, kind: RunKind): Run {
    return this.#byPlace[kind].get(at) ?? this.#strayOf(places, kind) ?? this.at(at, kind);
  }

  /** Parts that are added from now on have a place: an item is finished once. */
  #strayOf(places: number, kind: RunKind): Run | null {
    let stray = this.#stray[kind];
    if (stray === undefined) {
      stray = null;
      for (const run of this.#byPlace[kind].values()) if (run.at >= places) stray ??= run;
      this.#stray[kind] = stray;
    }
    return stray;
  }
}
