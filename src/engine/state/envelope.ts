// Seals texts that pass through clients: they are neither readable nor forgeable, and bound to one project.
import { openWithAny, seal } from './seal.ts';

/** Prefix of every sealed text. Distinguishes it from texts that other servers encrypt. */
const PREFIX = 'dgm1_';

export class Envelope {
  readonly #key: Uint8Array;
  readonly #keys: readonly Uint8Array[];
  readonly #purpose: string;

  /**
   * @param key 32 bytes, specific to this installation
   * @param purpose a text sealed for one purpose cannot be opened for another
   * @param earlier previous keys
   */
  constructor(key: Uint8Array, purpose: string, earlier: readonly Uint8Array[] = []) {
    this.#key = key;
    this.#keys = [key, ...earlier];
    this.#purpose = purpose;
  }

  /** The result contains only letters, digits, `-` and `_`. */
  seal(projectId: string, text: string): string {
    const sealed = seal(this.#key, new TextEncoder().encode(text), this.#boundTo(projectId));
    return PREFIX + Buffer.from(sealed).toString('base64url');
  }

  /** Opens a text. Undefined: not sealed here. Null: sealed for another project or purpose, or damaged. */
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
