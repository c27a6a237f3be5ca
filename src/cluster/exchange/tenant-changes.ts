// Notifies other processes of changed keys and projects, so that they read them immediately instead of at their next
// periodic check.
import type { PubSub } from './pub-sub.ts';

export class TenantChanges {
  readonly #pubSub: PubSub;
  readonly #refresh: () => Promise<unknown>;
  readonly #onError: (error: unknown) => void;
  #isReading = false;
  #isWoken = false;

  /** @param refresh reads changes from the database @param onError called if that fails */
  constructor(pubSub: PubSub, refresh: () => Promise<unknown>, onError: (error: unknown) => void) {
    this.#pubSub = pubSub;
    this.#refresh = refresh;
    this.#onError = onError;
    pubSub.subscribe('tenants', () => this.#wake());
  }

  /** Publishes that changes were found, unless another process has already published them. */
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
