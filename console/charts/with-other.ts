// Adds the remainder of a total as the series "Other".
import type { Series } from '../ui/chart/chart.tsx';
import { OTHER } from '../ui/chart/colours.ts';

export function withOther(series: readonly Series[], whole: readonly (number | null)[]): readonly Series[] {
  const values = whole.map((value, at) =>
    Math.max(0, (value ?? 0) - series.reduce((rest, each) => rest + (each.values[at] ?? 0), 0)),
  );
  const isLeft = values.some((value) => value > 1e-9);
  return isLeft ? [...series, { id: OTHER, name: OTHER, values }] : series;
}
