// Changes of keys and projects: whoever sees one first publishes it, which read it then, instead of with their next look at
// the database. Knows nothing of what has changed.
import type { PubSub } from './pub-sub.ts';

export class TenantChanges {
  readonly #pubSub: PubSub;
  readonly #refresh: () => Promise<unknown>;
  readonly #onError: (error: unknown) => void;
  #isReading = false;
  #isWoken = false;

  /** @param refresh reads what has changed in the database @param onError told when it cannot be read */
  constructor(pubSub: PubSub, refresh: () => Promise<unknown>, onError: (error: unknown) => void) {
    this.#pubSub = pubSub;
    this.#refresh = refresh;
    this.#onError = onError;
    pubSub.subscribe('tenants', () => this.#wake());
  }

  /** Something was found to be another. What others have published is not published again. */
  found(): void {
    if (!this.#isReading) this.#pubSub.publish('tenants', '');
  }

  #wake(): void {
    this.#isWoken = true;
    if (!this.#isReading) void this.#read();
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    try {
      while (this.#isWoken) {
        this.#isWoken = false;
        await this.#refresh();
      }
    } catch (error) {
      this.#onError(error);
    } finally {
      this.#isReading = false;
    }
  }
}
