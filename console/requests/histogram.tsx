// Histogram of requests and failures over time. Dragging selects a time range.
import { useMemo, type ReactNode } from 'react';
import type { Answer } from '../api/client.ts';
import { count } from '../format/numbers.ts';
import { Chart, type Series } from '../ui/chart/chart.tsx';

type Counts = Answer<'GET /generations/counts'>;

interface HistogramProps {
  readonly counts: Counts;
  readonly onRange: (from: number, to: number) => void;
}

export function Histogram({ counts, onRange }: HistogramProps): ReactNode {
  const { times, series } = useMemo(() => {
    const { histogram } = counts;
    const rows: readonly Series[] = [
      { id: 'failed', name: 'Failed', colour: '--color-bad', values: histogram.map(({ failed }) => failed) },
      {
        id: 'other',
        name: 'Other',
        colour: '--color-edge',
        values: histogram.map((bucket) => bucket.count - bucket.failed),
      },
    ];
    return { times: histogram.map(({ start }) => Date.parse(start) / 1_000), series: rows.toReversed() };
  }, [counts]);
  return (
    <Chart
      title="Requests over time"
      isBare
      kind="bars"
      height={88}
      times={times}
      step={(counts.interval_ms ?? 60_000) / 1_000}
      series={series}
      write={count}
      empty="No requests in this period."
      onRange={onRange}
    />
  );
}
