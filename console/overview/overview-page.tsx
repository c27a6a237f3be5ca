// The first page: what goes on here, over time and divided by whatever one asks for, and what is unwell now.
import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useMemo, useState, type ReactNode } from 'react';
import { useKeyNames } from '../api/key-names.ts';
import { useRead } from '../api/queries.ts';
import { count, duration, share, short, usd } from '../format/numbers.ts';
import { useHour } from '../format/use-hour.ts';
import { Card, Page, Waiting } from '../ui/card.tsx';
import { Chart, Legend, MOST_SERIES } from '../ui/chart.tsx';
import { Choice } from '../ui/choice.tsx';
import { Problem } from '../ui/problem.tsx';
import { FirstUse } from './first-use.tsx';
import { DIMENSIONS, fromOf, RANGES, type Dimension, type Range, type View } from './range.ts';
import {
  COLUMNS,
  field,
  largest,
  nameOf,
  seriesOf,
  timesOf,
  TOKENS_IN,
  TOKENS_OUT,
  type UsageRow,
  type Value,
} from './sums.ts';
import { Shares } from './shares.tsx';
import { Unwell } from './unwell.tsx';

const here = getRouteApi('/');
const USD = field('usd');

const CHARTS: readonly {
  readonly title: string;
  readonly value: Value;
  readonly write: (value: number | null) => string;
  readonly empty: 0 | null;
}[] = [
  { title: 'Requests', value: field('requests'), write: short, empty: 0 },
  { title: 'Errors', value: field('errors'), write: short, empty: 0 },
  { title: 'Cost', value: USD, write: usd, empty: 0 },
  { title: 'Tokens', value: (row) => (TOKENS_IN(row) ?? 0) + (TOKENS_OUT(row) ?? 0), write: short, empty: 0 },
  {
    title: 'Saved by caches',
    value: field('cache_saved_usd'),
    write: usd,
    empty: 0,
  },
  {
    title: 'Time to first token, median',
    value: field('first_content_ms_p50'),
    write: duration,
    empty: null,
  },
];

export function OverviewPage(): ReactNode {
  const { range = '24h', by = 'model' } = here.useSearch();
  const navigate = here.useNavigate();
  const show = (view: View): void =>
    void navigate({ search: (before) => ({ ...before, ...view }), replace: true });
  const from = fromOf(range, useHour());
  const { interval } = RANGES[range];
  // One question: what everything came to, what each came to, and that of the largest over time.
  const usage = useRead(
    'GET /usage',
    { query: { from, interval, group_by: by, largest: MOST_SERIES, totals: 'true', columns: COLUMNS } },
    { pauseMs: 15_000 },
  );
  const { data, error, isPending, isPlaceholderData } = usage;
  // What the answer is about that is shown: until the next one is there, that of the question before.
  const [about, setAbout] = useState({ from, interval, by });
  if (!isPlaceholderData && (about.from !== from || about.interval !== interval || about.by !== by))
    setAbout({ from, interval, by });
  const total = data?.totals?.all;
  const parts = data?.totals?.groups ?? [];
  const isOfKeys = about.by === 'key' || about.by === 'project';
  const keys = useKeyNames(isOfKeys ? parts.map((row) => row[about.by]) : []);
  const named = useCallback((id: string): string => nameOf(id, about.by, keys), [about.by, keys]);
  return (
    <Page
      title="Overview"
      about="What is asked of this gateway, what it costs, and how well it goes."
      actions={
        <>
          <Choice
            label="Divided by"
            value={by}
            options={DIMENSIONS.map((each) => [each, `By ${each}`])}
            onChange={(next) => show({ by: next as Dimension })}
          />
          <Choice
            label="Time"
            value={range}
            options={Object.entries(RANGES).map(([id, { label }]) => [id, label])}
            onChange={(next) => show({ range: next as Range })}
          />
        </>
      }
    >
      {error && <Problem error={error} />}
      <div className="flex flex-col gap-4">
        <Totals row={total} isPending={isPending} />
        <Unwell />
        {total === null && <FirstUse />}
        {isPending && !error && <Waiting rows={6} />}
        {data && data.data.length > 0 && <Charts {...about} data={data.data} to={data.to} nameOf={named} />}
        {parts.length > 0 && <Shares rows={parts} by={about.by} nameOf={named} />}
      </div>
    </Page>
  );
}

function Totals({
  row,
  isPending,
}: {
  readonly row: UsageRow | null | undefined;
  readonly isPending: boolean;
}): ReactNode {
  const value = (of: Value): number | null => (row ? of(row) : null);
  const requests = value(field('requests'));
  const errors = value(field('errors'));
  const totals = [
    ['Requests', count(requests)],
    [
      'Errors',
      requests === null ? '–' : `${count(errors)} (${share(requests === 0 ? 0 : (errors ?? 0) / requests)})`,
    ],
    ['Cost', usd(value(USD))],
    ['Saved by caches', usd(value(field('cache_saved_usd')))],
    ['Tokens in', short(value(TOKENS_IN))],
    ['Tokens out', short(value(TOKENS_OUT))],
    ['First token, median', duration(value(field('first_content_ms_p50')))],
    ['First token, p95', duration(value(field('first_content_ms_p95')))],
  ] as const;
  return (
    <dl
      aria-busy={isPending}
      className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border bg-line sm:grid-cols-4"
    >
      {totals.map(([name, text]) => (
        <div key={name} className="bg-card px-4 py-3">
          <dt className="text-xs text-faint">{name}</dt>
          <dd className="figures truncate text-lg font-semibold">{isPending ? '…' : text}</dd>
        </div>
      ))}
    </dl>
  );
}

interface ChartsProps {
  readonly data: readonly UsageRow[];
  readonly from: string;
  readonly to: string;
  readonly interval: 'hour' | 'day';
  readonly by: Dimension;
  /** Of an id. */
  readonly nameOf: (id: string) => string;
}

function Charts({ data, from, to, interval, by, nameOf: named }: ChartsProps): ReactNode {
  const { times, ids, charts } = useMemo(() => {
    const every = timesOf(from, to, interval);
    const of = largest(data, by, field('requests'));
    return {
      times: every,
      ids: of,
      charts: CHARTS.map(({ value, empty, ...chart }) => ({
        ...chart,
        series: seriesOf({ rows: data, times: every, by, ids: of, value, empty }),
      })),
    };
  }, [data, from, to, interval, by]);
  const names = useMemo(() => ids.map(named), [ids, named]);
  return (
    <section aria-label="Over time">
      <div className="mb-3">
        <Legend names={names} />
      </div>
      <div className="grid gap-4 lg:grid-cols-2 xl:grid-cols-3">
        {charts.map(({ title, series, write }) => (
          <Card key={title} title={title}>
            <Chart title={title} times={times} series={series} names={names} write={write} />
          </Card>
        ))}
      </div>
    </section>
  );
}
