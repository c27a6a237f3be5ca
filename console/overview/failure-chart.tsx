// Chart of failures and refusals, by kind and over time.
import { useMemo, type ReactNode } from 'react';
import { bucketed, type UsageRow, type Value } from '../api/sums.ts';
import { withOther } from '../charts/with-other.ts';
import { count } from '../format/numbers.ts';
import { words } from '../format/states.ts';
import type { Grid } from '../time/range.ts';
import { Chart, type Series } from '../ui/chart/chart.tsx';

/** Number of series with a colour of their own. */
const MOST = 6;
/** Colours by kind: failures are red, limits yellow. Other kinds get a colour by name. */
const KIND_COLOURS: Readonly<Record<string, string>> = {
  upstream_unavailable: '--color-bad',
  timeout: '--color-series-2',
  internal: '--color-series-4',
  quota: '--color-warn',
  rate_limited: '--color-series-5',
};

interface FailureChartProps {
  readonly rows: readonly UsageRow[];
  readonly grid: Grid;
  readonly onRange: (from: number, to: number) => void;
}

export function FailureChart({ rows, grid, onRange }: FailureChartProps): ReactNode {
  const series = useMemo(() => {
    const kinds = kindsIn(rows).slice(0, MOST);
    const each = kinds.map(([kind]): Series => ({
      id: `kind ${kind}`,
      name: words(kind),
      ...(KIND_COLOURS[kind] !== undefined && { colour: KIND_COLOURS[kind] }),
      values: bucketed(rows, grid.times.length, grid.placeOf, ofKind(kind)),
    }));
    const whole: Value = (row) =>
      Object.values(row.errors_by_kind ?? {}).reduce((all, number) => all + number, 0);
    return withOther(each, bucketed(rows, grid.times.length, grid.placeOf, whole));
  }, [rows, grid]);
  return (
    <Chart
      title="Failed and refused, by kind"
      kind="bars"
      times={grid.times}
      step={grid.step}
      series={series}
      write={count}
      empty="No failed or refused requests in this period."
      onRange={onRange}
    />
  );
}

function ofKind(kind: string): Value {
  return (row) => row.errors_by_kind?.[kind] ?? 0;
}

/** Error kinds with their counts, most frequent first. */
export function kindsIn(rows: readonly UsageRow[]): readonly (readonly [string, number])[] {
  const sums = new Map<string, number>();
  for (const row of rows)
    for (const [kind, number] of Object.entries(row.errors_by_kind ?? {}))
      sums.set(kind, (sums.get(kind) ?? 0) + number);
  return [...sums].toSorted(([, a], [, b]) => b - a);
}
