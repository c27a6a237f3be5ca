// Short texts that are kept sealed until a time, where all processes of the installation find them: beside the sealed turns,
// under an owner that no project can be. Knows nothing of what is inside.
import type { VaultStore } from '../../accounts/ports/index.ts';
import { openWithAny, seal } from './seal.ts';
import type { UnixMs } from '../../base/units.ts';

export class SealedNotes {
  readonly #store: VaultStore;
  readonly #keys: readonly [Uint8Array, ...Uint8Array[]];
  readonly #owner: string;

  /**
   * @param purpose a note of one purpose is found under no other
   * @param keys 32 bytes each: what is new is sealed with the first, what was sealed with one of the others opens
   */
  constructor(store: VaultStore, purpose: string, keys: readonly [Uint8Array, ...Uint8Array[]]) {
    this.#store = store;
    this.#keys = keys;
    // Neither the name of a project nor the id of a key has brackets.
    this.#owner = `(${purpose})`;
  }

  /** Writes a note, or writes it anew. @param expiresAt Unix milliseconds */
  async put(name: string, text: string, expiresAt: UnixMs): Promise<void> {
    const sealed = seal(this.#keys[0], new TextEncoder().encode(text), this.#boundTo(name));
    await this.#store.put([{ projectId: this.#owner, callId: name, sealed, expiresAt }]);
  }

  /** Notes that exist and have not expired, by name; one that cannot be opened does not exist. */
  async get(names: readonly string[], nowMs: UnixMs): Promise<ReadonlyMap<string, string>> {
    return this.#opened(await this.#store.get(this.#owner, names, nowMs));
  }

  /** All notes of the purpose that have not expired, at most `limit`, those first that expire last. */
  async list(nowMs: UnixMs, limit: number): Promise<ReadonlyMap<string, string>> {
    return this.#opened(await this.#store.list(this.#owner, nowMs, limit));
  }

  #opened(found: ReadonlyMap<string, Uint8Array>): ReadonlyMap<string, string> {
    return new Map(
      [...found].flatMap(([name, sealed]) => {
        const plain = openWithAny(this.#keys, sealed, this.#boundTo(name));
        return plain ? [[name, new TextDecoder().decode(plain)] as const] : [];
      }),
    );
  }

  #boundTo(name: string): string {
    return JSON.stringify(['note', this.#owner, name]);
  }
}
