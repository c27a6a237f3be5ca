// How far figures lie apart. Pure.

export interface Quartiles {
  readonly low: number;
  readonly middle: number;
  readonly high: number;
}

/** The median and the quartiles around it; between two figures in proportion. NaN without figures. */
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
  /** Change of y per x of the line that is nearest to the points (least squares). NaN below two points. */
  readonly slope: number;
  /** Standard error of the slope. NaN below three points. */
  readonly error: number;
}

/** The line through points. */
export function trend(points: readonly (readonly [x: number, y: number])[]): Trend {
  const mean = (at: 0 | 1): number => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const meanX = mean(0);
  const meanY = mean(1);
  const square = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const slope = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / square;
  const rest = points.reduce((sum, [x, y]) => sum + (y - meanY - slope * (x - meanX)) ** 2, 0);
  return { slope, error: points.length < 3 ? Number.NaN : Math.sqrt(rest / (points.length - 2) / square) };
}
