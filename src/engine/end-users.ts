// Hashes of end users: readers of records, limits and reports see which requests share an end user, but not who it is.
import { createHmac } from 'node:crypto';

/** Maximum cached hashes; clients send the same few names repeatedly. */
const MOST_KNOWN = 4_096;
/** Maximum characters of a name whose hash is cached. */
const LONGEST_KNOWN = 256;

export class EndUsers {
  readonly #secret: Uint8Array;
  readonly #known = new Map<string, string>();

  /** @param secret 32 bytes: `storage.secret('end users')` */
  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  /**
   * Hash of an end user within a project: 32 hexadecimal characters.
   * @param name from the request; undefined or empty: the result is null
   */
  hashOf(projectId: string, name: string | undefined): string | null {
    if (!name) return null;
    const place = `${projectId.length} ${projectId}${name}`;
    const known = this.#known.get(place);
    if (known !== undefined) return known;
    const text = JSON.stringify([projectId, name]);
    const hash = createHmac('sha256', this.#secret).update(text).digest('hex').slice(0, 32);
    if (name.length > LONGEST_KNOWN) return hash;
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(place, hash);
    return hash;
  }
}
