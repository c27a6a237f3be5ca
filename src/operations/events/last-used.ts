// Exact time of each key's last use in this process. Sums only know it to 5 minutes.
import type { FinishedRequest, RequestObserver } from '../../engine/index.ts';

/** Maximum number of keys. Beyond that, the ones used longest ago are known from the sums only. */
const MOST_KEYS = 100_000;

export class LastUsed implements RequestObserver {
  readonly #times = new Map<string, number>();

  finished({ generation: { keyId, createdAt } }: FinishedRequest): void {
    // Reinserted, so that the map is in order of use.
    this.#times.delete(keyId);
    this.#times.set(keyId, createdAt);
    if (this.#times.size <= MOST_KEYS) return;
    const [oldest] = this.#times.keys();
    if (oldest !== undefined) this.#times.delete(oldest);
  }

  /** Unix milliseconds. Null: not used since the start. */
  of(keyId: string): number | null {
    return this.#times.get(keyId) ?? null;
  }
}
