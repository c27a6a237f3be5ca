// The first page: what goes on here, over time and divided by whatever one asks for, and what is unwell now.
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo, type ReactNode } from 'react';
import { useRead } from '../api/queries.ts';
import { count, duration, share, short, usd } from '../format/numbers.ts';
import { Card, Empty, Page, Waiting } from '../ui/card.tsx';
import { Chart, Legend } from '../ui/chart.tsx';
import { Choice } from '../ui/choice.tsx';
import { Problem } from '../ui/problem.tsx';
import { FirstUse } from './first-use.tsx';
import { DIMENSIONS, fromOf, RANGES, type Dimension, type Range, type View } from './range.ts';
import {
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
  const from = fromOf(range, Date.now());
  const { interval } = RANGES[range];
  const every = { every: 60_000 };
  const all = useRead('GET /usage', { query: { from } }, every);
  const over = useRead('GET /usage', { query: { from, interval, group_by: by } }, every);
  const parts = useRead('GET /usage', { query: { from, group_by: by } }, every);
  const error = all.error ?? over.error ?? parts.error;
  const total = all.data?.data[0];
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
        <Totals row={total} isPending={all.isPending} />
        <Unwell />
        {total === undefined && !all.isPending && <FirstUse />}
        {over.isPending && <Waiting rows={6} />}
        {over.data && over.data.data.length > 0 && (
          <Charts data={over.data.data} from={from} to={over.data.to} interval={interval} by={by} />
        )}
        {parts.data && parts.data.data.length > 0 && <Shares rows={parts.data.data} by={by} />}
      </div>
    </Page>
  );
}

function Totals({
  row,
  isPending,
}: {
  readonly row: UsageRow | undefined;
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
    ['First token, 95 %', duration(value(field('first_content_ms_p95')))],
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
}

function Charts({ data, from, to, interval, by }: ChartsProps): ReactNode {
  const { times, names, charts } = useMemo(() => {
    const every = timesOf(from, to, interval);
    const most = largest(data, by, field('requests'));
    return {
      times: every,
      names: most,
      charts: CHARTS.map((chart) => ({
        ...chart,
        series: seriesOf({
          rows: data,
          times: every,
          by,
          names: most,
          value: chart.value,
          empty: chart.empty,
        }),
      })),
    };
  }, [data, from, to, interval, by]);
  return (
    <section aria-label="Over time">
      <div className="mb-3">
        <Legend names={names} />
      </div>
      <div className="grid gap-4 lg:grid-cols-2 xl:grid-cols-3">
        {charts.map(({ title, series, write }) => (
          <Card key={title} title={title}>
            <Chart title={title} times={times} series={series} write={write} />
          </Card>
        ))}
      </div>
    </section>
  );
}

function Shares({ rows, by }: { readonly rows: readonly UsageRow[]; readonly by: Dimension }): ReactNode {
  const whole = rows.reduce((sum, row) => sum + (USD(row) ?? 0), 0);
  if (rows.length === 0) return <Empty icon="overview" title="Nothing in this time" />;
  return (
    <Card title={`By ${by}`} flush>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{by[0]?.toUpperCase() + by.slice(1)}</th>
            {['Requests', 'Errors', 'Cost', 'Share', 'Tokens in', 'Tokens out', 'First token', 'Saved'].map(
              (name) => (
                <th key={name} scope="col" className="number">
                  {name}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={nameOf(row, by)}>
              <td className="max-w-60 truncate">
                <Link
                  to="/requests"
                  search={{ [by]: row[by] ?? undefined }}
                  className="font-medium hover:underline"
                >
                  {nameOf(row, by)}
                </Link>
              </td>
              <td className="number">{count(field('requests')(row))}</td>
              <td className="number">{count(field('errors')(row))}</td>
              <td className="number">{usd(USD(row))}</td>
              <td className="number">{whole === 0 ? '–' : share((USD(row) ?? 0) / whole)}</td>
              <td className="number">{short(TOKENS_IN(row))}</td>
              <td className="number">{short(TOKENS_OUT(row))}</td>
              <td className="number">{duration(field('first_content_ms_p50')(row))}</td>
              <td className="number">{usd(field('cache_saved_usd')(row))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}
