// Counts by a word or a number, of which there are few.
import type { Label } from './names.ts';
import type { LabelValues, Sample } from './reading.ts';

export class Tally<Key extends string | number> {
  readonly #counts = new Map<Key, number>();

  add(key: Key, by = 1): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + by);
  }

  /** Each count, with its key under one more label. */
  *under(label: Label, labels: LabelValues): Iterable<Sample> {
    for (const [key, value] of this.#counts) yield { labels: { ...labels, [label]: String(key) }, value };
  }
}
