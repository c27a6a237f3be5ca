// When each key was used last, by this process: exact, where sums know it to 5 minutes.
import type { Settlement, SettlementObserver } from '../../engine/index.ts';

/** Keys that are remembered; of more, those that were used longest ago are known by the sums alone. */
const MOST_KEYS = 100_000;

export class LastUsed implements SettlementObserver {
  readonly #times = new Map<string, number>();

  settled({ generation: { keyId, createdAt } }: Settlement): void {
    // Keys that were used last stand at the end.
    this.#times.delete(keyId);
    this.#times.set(keyId, createdAt);
    if (this.#times.size <= MOST_KEYS) return;
    const [oldest] = this.#times.keys();
    if (oldest !== undefined) this.#times.delete(oldest);
  }

  /** Unix milliseconds. Null: not since the start. */
  of(keyId: string): number | null {
    return this.#times.get(keyId) ?? null;
  }
}
