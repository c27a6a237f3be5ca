// A histogram as plain numbers: cheap to add to, read when somebody scrapes.

export class Histogram {
  /** Upper bounds, ascending. */
  readonly bounds: readonly number[];
  /** How many were at most each bound and above the one before; the last: those above all. */
  readonly counts: number[];
  /** Sum of all that was added. */
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  /** @param value negative ones, of clocks that were put back, count as 0 */
  add(value: number): void {
    const { bounds, counts } = this;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] ?? Infinity)) at++;
    counts[at] = (counts[at] ?? 0) + 1;
    if (value > 0) this.sum += value;
  }
}
