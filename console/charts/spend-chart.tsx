// Chart of spend over time: in total, or of one key or model, optionally split by a dimension. A note names requests
// without a price.
import type { UseQueryResult } from '@tanstack/react-query';
import { useMemo, type ReactNode } from 'react';
import type { Answer, ApiError } from '../api/client.ts';
import { useKeyNames } from '../api/key-names.ts';
import { useRead } from '../api/queries.ts';
import { bucketed, field, idOf, nameOf, type Dimension, type UsageRow } from '../api/sums.ts';
import { counted, usd } from '../format/numbers.ts';
import type { RangeSearch } from '../time/range.ts';
import { useSpan } from '../time/use-span.ts';
import { Card, Waiting } from '../ui/card.tsx';
import { Chart, type Series } from '../ui/chart/chart.tsx';
import { isRepeated, Problem } from '../ui/problem.tsx';
import { withOther } from './with-other.ts';

const READ = { pauseMs: 15_000 };
const USD = field('usd');
const UNPRICED = field('unpriced_requests');
const NONE: readonly UsageRow[] = [];

interface SpendChartProps {
  readonly title?: string;
  readonly aside?: ReactNode;
  readonly range: RangeSearch;
  /** Sums of all requests by interval, if the page already has them; absent: they are read. */
  readonly whole?: readonly UsageRow[];
  /** The key or model to show; absent: all. */
  readonly of?: { readonly key: string } | { readonly model: string };
  /** Dimension that splits the bars; absent: not split. */
  readonly by?: Dimension;
  readonly onRange?: (from: number, to: number) => void;
  /** Sums of the largest by interval, if the page reads and reports them; absent: they are read. */
  readonly divided?: UseQueryResult<Answer<'GET /usage'>, ApiError>;
}

/** Query parameters for the sums of the largest. */
export const LARGEST = { largest: 6, largest_by: 'usd' } as const;

export function SpendChart({
  title = 'Spend',
  aside,
  range,
  whole,
  of,
  by,
  onRange,
  divided: given,
}: SpendChartProps): ReactNode {
  const { span, grid, times } = useSpan(range);
  const query = { ...times, ...of, interval: span.interval };
  const read = useRead(
    'GET /usage',
    { query: { ...query, columns: 'requests,usd,unpriced_requests' } },
    { ...READ, when: whole === undefined },
  );
  const own = useRead(
    'GET /usage',
    { query: { ...query, group_by: by, ...LARGEST, columns: 'requests,usd' } },
    { ...READ, when: by !== undefined && given === undefined },
  );
  const divided = given ?? own;
  const all = whole ?? read.data?.data ?? NONE;
  const rows = by === undefined ? NONE : (divided.data?.data ?? NONE);
  const isRead = (whole ?? read.data) !== undefined && (by === undefined || divided.data !== undefined);
  const error = (whole === undefined && read.error) || (by !== undefined && own.error);
  const ids = useMemo(
    () => (by === undefined ? [] : [...new Set(rows.map((row) => idOf(row, by)))]),
    [rows, by],
  );
  const keys = useKeyNames(by === 'key' || by === 'project' ? ids : []);
  const series = useMemo(() => {
    const valuesOf = (some: readonly UsageRow[]) => bucketed(some, grid.times.length, grid.placeOf, USD);
    if (by === undefined)
      return [{ id: 'spend', name: 'Spend', values: valuesOf(all), colour: '--color-series-1' }];
    const each = ids
      .map((id): Series => ({
        id,
        name: nameOf(id, by, keys),
        values: valuesOf(rows.filter((row) => idOf(row, by) === id)),
      }))
      .filter((one) => sum(one) > 0)
      .toSorted((a, b) => sum(b) - sum(a));
    return withOther(each, valuesOf(all));
  }, [ids, rows, by, keys, all, grid]);
  // The chart would say that nothing was used, which is not known yet.
  if (!isRead && given?.error && (!error || isRepeated(error, given.error))) return null;
  if (!isRead)
    return (
      <Card title={title} aside={aside}>
        {error ? <Problem error={error} /> : <Waiting rows={6} />}
      </Card>
    );
  const unpriced = all.reduce((sofar, row) => sofar + (UNPRICED(row) ?? 0), 0);
  return (
    <Chart
      title={title}
      aside={aside}
      kind="bars"
      times={grid.times}
      step={grid.step}
      series={series}
      write={usd}
      empty="No usage with a known price in this period."
      note={unpriced > 0 ? `Excludes ${counted(unpriced, 'request')} without a known price.` : undefined}
      {...(onRange && { onRange })}
    />
  );
}

function sum({ values }: Series): number {
  return values.reduce<number>((whole, value) => whole + (value ?? 0), 0);
}
