// Histogram of plain numbers: cheap to add to, read only when scraped.

export class Histogram {
  /** Upper bounds, ascending. */
  readonly bounds: readonly number[];
  /** Count per bucket; the last is above all bounds. Not cumulative. */
  readonly counts: number[];
  /** Sum of all added values. */
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  /** @param value a negative value, after a clock was set back, counts as 0 */
  add(value: number): void {
    const { bounds, counts } = this;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] ?? Infinity)) at++;
    counts[at] = (counts[at] ?? 0) + 1;
    if (value > 0) this.sum += value;
  }
}
