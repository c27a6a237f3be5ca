// Hashes of end users: readers of records, limits or reports learn which requests have the same end user, and not who it is.
import { createHmac } from 'node:crypto';

/** Hashes that are remembered; programs name the same few again and again. */
const MOST_KNOWN = 4_096;
/** Longer names are hashed each time, in characters. */
const LONGEST_KNOWN = 256;

export class EndUsers {
  readonly #secret: Uint8Array;
  readonly #known = new Map<string, string>();

  /** @param secret 32 bytes: `storage.secret('end users')` */
  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  /**
   * The end user of a project's request: 32 hexadecimal characters, the same for the same name in the same project.
   * @param name as the request has it; undefined or empty where it names nobody: null
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
