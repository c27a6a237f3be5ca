// Changes of keys and projects: whoever sees one first tells the others, which read it then, instead of with their next look at
// the database. Knows nothing of what has changed.
import type { Bulletin } from './bulletin.ts';

export class TenantChanges {
  readonly #bulletin: Bulletin;
  readonly #refresh: () => Promise<unknown>;
  readonly #onError: (error: unknown) => void;
  #isReading = false;
  #isWoken = false;

  /** @param refresh reads what has changed in the database @param onError told when it cannot be read */
  constructor(bulletin: Bulletin, refresh: () => Promise<unknown>, onError: (error: unknown) => void) {
    this.#bulletin = bulletin;
    this.#refresh = refresh;
    this.#onError = onError;
    bulletin.hear('tenants', () => this.#wake());
  }

  /** Something was found to be another. Of what others have told nobody has to be told again. */
  found(): void {
    if (!this.#isReading) this.#bulletin.tell('tenants', '');
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
