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

/** The slope of the line through points that is nearest to them (least squares): change of y per x. NaN below two. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (at: 0 | 1): number => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const meanX = mean(0);
  const meanY = mean(1);
  let along = 0;
  let square = 0;
  for (const [x, y] of points) {
    along += (x - meanX) * (y - meanY);
    square += (x - meanX) ** 2;
  }
  return along / square;
}
