// Memory limit shared by all recorders, running or waiting to be stored.

export class Room {
  readonly #most: number;
  #held = 0;

  /** @param most bytes */
  constructor(most: number) {
    this.#most = most;
  }

  get held(): number {
    return this.#held;
  }

  /** @returns false if not enough is available; nothing is taken then */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.#most) return false;
    this.#held += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#held -= bytes;
  }
}
