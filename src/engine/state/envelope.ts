// Sealed texts that travel through clients: what they carry for us is neither readable nor forgeable, and of no use to
// another tenant. Knows nothing of what is inside.
import { openWithAny, seal } from './seal.ts';

/** Prefix of every sealed text that a client sees: it differs from what other servers encrypt. */
const PREFIX = 'dgm1_';

export class Envelope {
  readonly #key: Uint8Array;
  readonly #keys: readonly Uint8Array[];
  readonly #purpose: string;

  /**
   * @param key 32 bytes of this installation
   * @param purpose a text sealed for one purpose opens for no other
   * @param earlier keys that texts were sealed with before
   */
  constructor(key: Uint8Array, purpose: string, earlier: readonly Uint8Array[] = []) {
    this.#key = key;
    this.#keys = [key, ...earlier];
    this.#purpose = purpose;
  }

  /** Letters, digits, `-` and `_` only. */
  seal(projectId: string, text: string): string {
    const sealed = seal(this.#key, new TextEncoder().encode(text), this.#boundTo(projectId));
    return PREFIX + Buffer.from(sealed).toString('base64url');
  }

  /**
   * The text; undefined when it was not sealed here at all; null when it was, but for somebody else or another
   * purpose, or was damaged.
   */
  open(projectId: string, sealed: string): string | null | undefined {
    if (!sealed.startsWith(PREFIX)) return undefined;
    const bytes = Buffer.from(sealed.slice(PREFIX.length), 'base64url');
    const text = openWithAny(this.#keys, bytes, this.#boundTo(projectId));
    return text && new TextDecoder().decode(text);
  }

  #boundTo(projectId: string): string {
    return JSON.stringify([this.#purpose, projectId]);
  }
}
