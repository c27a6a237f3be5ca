// Lines on their way into groups: those of one endpoint and path gather until a group is full, or no more come.
import type { Endpoint } from '../../../catalog/index.ts';
import type { DeferredRequest } from '../../call.ts';

/** Most bytes of one group, which are held in memory until it is submitted. */
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

  /** @param most lines of a group */
  constructor(most: number) {
    this.#most = most;
  }

  /** @returns a group that is full with it; null where there is room for more */
  add(endpoint: Endpoint, line: DeferredLine): Gathered | null {
    const key = `${endpoint.modelId}\n${endpoint.slug}\n${endpoint.protocol}\n${line.path}`;
    let group = this.#byKey.get(key);
    if (!group) this.#byKey.set(key, (group = { endpoint, path: line.path, lines: [], bytes: 0 }));
    group.lines.push(line);
    group.bytes += line.body.length;
    if (group.lines.length < this.#most && group.bytes < MOST_BYTES) return null;
    this.#byKey.delete(key);
    return group;
  }

  /** All that is left. */
  takeAll(): readonly Gathered[] {
    const all = [...this.#byKey.values()];
    this.#byKey.clear();
    return all;
  }
}
