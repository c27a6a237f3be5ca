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

  /**
   * @param mostBytes of its group, where its vendor takes less than the gateway holds
   * @returns a group that has no room for it; null where it has
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

  /** All that is left. */
  takeAll(): readonly Gathered[] {
    const all = [...this.#byKey.values()];
    this.#byKey.clear();
    return all;
  }
}
