// Statistics of figures: quartiles and linear trends.

export interface Quartiles {
  readonly low: number;
  readonly middle: number;
  readonly high: number;
}

/** Median and quartiles, interpolated linearly. NaN without figures. */
export function quartiles(figures: readonly number[]): Quartiles {
  const sorted = figures.toSorted((a, b) => a - b);
  return { low: quantile(sorted, 0.25), middle: quantile(sorted, 0.5), high: quantile(sorted, 0.75) };
}

function quantile(sorted: readonly number[], share: number): number {
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  return below + (above - below) * (place - Math.floor(place));
}

export interface Trend {
  /** Slope of the least-squares line. NaN for fewer than two points. */
  readonly slope: number;
  /** Standard error of the slope. NaN for fewer than three points. */
  readonly error: number;
}

/** Least-squares line through points. */
export function trend(points: readonly (readonly [x: number, y: number])[]): Trend {
  const mean = (at: 0 | 1): number => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const meanX = mean(0);
  const meanY = mean(1);
  const square = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const slope = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / square;
  const rest = points.reduce((sum, [x, y]) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0);
  return { slope, error: points.length < 3 ? Number.NaN : Math.sqrt(rest / (points.length - 2) / square) };
}
