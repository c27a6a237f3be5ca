// What a request holds while it runs, and gives back however it ends: the turn of its conversation, and whatever else
// admission takes.

/** Something that only one request, or so many at once, may have. */
export interface Holding {
  /** Gives it back. Called once; never rejects. */
  release(): Promise<void>;
}

export class Holdings {
  #held: Holding[] | undefined;

  take(holding: Holding): void {
    (this.#held ??= []).push(holding);
  }

  /** Gives everything back, what was taken last first. @returns undefined where nothing is held any more */
  release(): Promise<void> | undefined {
    const held = this.#held;
    if (!held) return undefined;
    this.#held = undefined;
    return releaseAll(held);
  }
}

async function releaseAll(held: readonly Holding[]): Promise<void> {
  for (const holding of held.toReversed()) await holding.release();
}
