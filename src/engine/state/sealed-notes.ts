// Short sealed texts with an expiry, shared by all processes of the installation. Stored in the vault under an owner
// that cannot be a project.
import type { VaultStore } from '../../accounts/ports/index.ts';
import { openWithAny, seal } from './seal.ts';
import type { UnixMs } from '../../base/units.ts';

export class SealedNotes {
  readonly #store: VaultStore;
  readonly #keys: readonly [Uint8Array, ...Uint8Array[]];
  readonly #owner: string;

  /**
   * @param purpose separates notes of different uses
   * @param keys 32 bytes each: the first one seals, all of them open
   */
  constructor(store: VaultStore, purpose: string, keys: readonly [Uint8Array, ...Uint8Array[]]) {
    this.#store = store;
    this.#keys = keys;
    // Neither project names nor key ids contain parentheses.
    this.#owner = `(${purpose})`;
  }

  /** Writes or replaces a note. @param expiresAt Unix milliseconds */
  async put(name: string, text: string, expiresAt: UnixMs): Promise<void> {
    const sealed = seal(this.#keys[0], new TextEncoder().encode(text), this.#boundTo(name));
    await this.#store.put([{ projectId: this.#owner, callId: name, sealed, expiresAt }]);
  }

  /** Unexpired notes by name. Notes that cannot be opened are omitted. */
  async get(names: readonly string[], nowMs: UnixMs): Promise<ReadonlyMap<string, string>> {
    return this.#opened(await this.#store.get(this.#owner, names, nowMs));
  }

  /** Unexpired notes of the purpose, at most `limit`, latest expiry first. */
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
