// Collects lines into groups by endpoint and path until a group is full or there are no more lines.
import type { Endpoint } from '../../../catalog/index.ts';
import type { DeferredRequest } from '../../call.ts';

/** Maximum bytes of one group, held in memory until it is submitted. */
const MOST_BYTES = 32 * 1_048_576;

export interface DeferredLine extends DeferredRequest {
  readonly number: number;
}

/** Lines that are submitted together. */
export interface Gathered {
  readonly endpoint: Endpoint;
  readonly path: string;
  readonly lines: readonly DeferredLine[];
}

export class DeferredLines {
  readonly #most: number;
  readonly #byKey = new Map<
    string,
    { endpoint: Endpoint; path: string; lines: DeferredLine[]; bytes: number }
  >();

  /** @param most maximum lines of a group */
  constructor(most: number) {
    this.#most = most;
  }

  /**
   * @param mostBytes maximum of its group, if the vendor's limit is below the gateway's
   * @returns a full group to submit; null: none
   */
  add(endpoint: Endpoint, line: DeferredLine, mostBytes = MOST_BYTES): Gathered | null {
    const key = `${endpoint.modelId}\n${endpoint.slug}\n${endpoint.protocol}\n${line.path}`;
    const { path, body } = line;
    const group = this.#byKey.get(key);
    if (group && group.lines.length < this.#most && group.bytes + body.length <= mostBytes) {
      group.lines.push(line);
      group.bytes += body.length;
      return null;
    }
    this.#byKey.set(key, { endpoint, path, lines: [line], bytes: body.length });
    return group ?? null;
  }

  /** Takes all remaining groups. */
  takeAll(): readonly Gathered[] {
    const all = [...this.#byKey.values()];
    this.#byKey.clear();
    return all;
  }
}
