// What the requests of each key cost. Bounded: keys beyond the first thousand are not told apart.
import { usdOf } from '../limits/index.ts';
import type { Sample } from './reading.ts';
import { OTHER } from './series-book.ts';

const MOST_KEYS = 1000;

interface KeyCost {
  readonly project: string;
  readonly key: string;
  /** Whole nano-dollars. */
  nanoUsd: number;
}

export class KeyCosts {
  /** By project and name of the key. */
  readonly #costs = new Map<string, Map<string, KeyCost>>();
  readonly #others: KeyCost = { project: OTHER, key: OTHER, nanoUsd: 0 };
  #size = 0;

  add(project: string, key: string, nanoUsd: number): void {
    (this.#costs.get(project)?.get(key) ?? this.#begin(project, key)).nanoUsd += nanoUsd;
  }

  *read(): Iterable<Sample> {
    for (const keys of this.#costs.values()) for (const cost of keys.values()) yield sampleOf(cost);
    if (this.#others.nanoUsd > 0) yield sampleOf(this.#others);
  }

  #begin(project: string, key: string): KeyCost {
    if (this.#size >= MOST_KEYS) return this.#others;
    this.#size += 1;
    let keys = this.#costs.get(project);
    if (!keys) this.#costs.set(project, (keys = new Map()));
    const cost = { project, key, nanoUsd: 0 };
    keys.set(key, cost);
    return cost;
  }
}

function sampleOf({ project, key, nanoUsd }: KeyCost): Sample {
  return { labels: { project, key }, value: usdOf(nanoUsd) };
}
