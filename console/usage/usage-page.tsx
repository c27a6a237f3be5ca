// Usage page: spend and usage by any dimension over any time range, also as CSV.
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useKeyNames } from '../api/key-names.ts';
import { useRead } from '../api/queries.ts';
import { field, TOKEN_COLUMNS, TOKENS_IN, TOKENS_OUT, type UsageRow, type Value } from '../api/sums.ts';
import { LARGEST, SpendChart } from '../charts/spend-chart.tsx';
import { count, counted, duration, share, short, usd, usdSum } from '../format/numbers.ts';
import { useSpan, useZone } from '../time/use-span.ts';
import { buttonClass } from '../ui/button.tsx';
import { Card, Empty, Page, Waiting } from '../ui/card.tsx';
import { useHiddenColumns } from '../ui/columns.ts';
import { Icon } from '../ui/icon.tsx';
import { Menu } from '../ui/menu.tsx';
import { Money } from '../ui/money.tsx';
import { Problem } from '../ui/problem.tsx';
import { Segments } from '../ui/segments.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { EndUsers } from './end-users.tsx';
import { PIVOTS, type Pivot } from './view.ts';

const here = getRouteApi('/usage');
const USD = field('usd');
const UNPRICED = field('unpriced_requests');
const REQUESTS = field('requests');
/** Most common ranges. The header offers more. */
const DAYS = [
  ['today', 'Today'],
  ['yesterday', 'Yesterday'],
  ['month', 'This month'],
] as const;
const COLUMNS = [
  'requests',
  'failed',
  'refused',
  'cancelled',
  'attempts',
  'failed_attempts',
  'usd',
  'unpriced_requests',
  'cache_saved_usd',
  'first_content_ms_p50',
  'first_content_ms_p95',
  ...TOKEN_COLUMNS,
].join();

export function UsagePage(): ReactNode {
  const { by = 'model', order = '-spend', ...range } = here.useSearch();
  const navigate = here.useNavigate();
  const { span, times } = useSpan(range);
  const zone = useZone();
  const isEndUsers = by === 'end_user';
  // One report for the table, which needs totals, and for the chart, which needs the largest by interval.
  const usage = useRead(
    'GET /usage',
    {
      query: {
        ...times,
        columns: COLUMNS,
        group_by: isEndUsers ? 'model' : by,
        totals: 'true',
        interval: span.interval,
        ...LARGEST,
      },
    },
    { pauseMs: 15_000 },
  );
  const { all, groups } = usage.data?.totals ?? {};
  // The sums of the days before would be wrong beside the name of these.
  const sentence = `${span.label}: ${usage.isPlaceholderData ? '…' : spentText(all)}`;
  const csv = new URLSearchParams({
    ...plain(times),
    ...(isEndUsers ? {} : { group_by: by }),
    format: 'csv',
  });
  return (
    <Page
      title="Usage"
      overTime
      actions={
        <a
          className={buttonClass()}
          href={`/console/api/v1/management/usage${isEndUsers ? '/end-users' : ''}?${csv.toString()}`}
          download={`usage-${by}-${times.from.slice(0, 10)}.csv`}
        >
          <Icon name="download" /> CSV
        </a>
      }
    >
      <div className="flex flex-col gap-4">
        <div className="flex flex-wrap gap-2">
          <Segments
            label="By"
            options={PIVOTS}
            isChosen={(id) => id === by}
            onChoose={(id) => void navigate({ search: (before) => ({ ...before, by: id }), replace: true })}
          />
          <Segments
            label="Days"
            options={DAYS}
            isChosen={(id) => id === range.range}
            onChoose={(id) =>
              void navigate({
                search: ({ from: _, to: __, ...before }) => ({ ...before, range: id }),
                replace: true,
              })
            }
          />
        </div>
        {usage.error && <Problem error={usage.error} />}
        {usage.data && (
          <p className="text-base" aria-live="polite">
            {sentence} <span className="text-faint">Days are in the time zone {zone}.</span>
          </p>
        )}
        {by === 'end_user' ? (
          <EndUsers times={times} shownError={usage.error} />
        ) : (
          <>
            <SpendChart
              by={dimensionOf(groups) ?? by}
              range={range}
              divided={usage}
              onRange={(from, to) =>
                void navigate({
                  search: ({ range: _, ...rest }) => ({
                    ...rest,
                    from: new Date(from).toISOString(),
                    to: new Date(to).toISOString(),
                  }),
                })
              }
            />
            <Card flush>
              {usage.isPending && <Waiting rows={8} />}
              {groups?.length === 0 && (
                <Empty icon="usage" title="No usage in this period">
                  Choose other days above, or send a request in the playground.
                </Empty>
              )}
              {groups && groups.length > 0 && (
                <Pivoted
                  rows={groups}
                  by={dimensionOf(groups) ?? by}
                  range={range}
                  order={order}
                  onOrder={(next) =>
                    void navigate({ search: (before) => ({ ...before, order: next }), replace: true })
                  }
                />
              )}
            </Card>
          </>
        )}
      </div>
    </Page>
  );
}

/** Returns what was spent in these days, as a sentence. */
function spentText(all: UsageRow | null | undefined): string {
  if (!all) return 'no requests.';
  const unpriced = UNPRICED(all) ? `, ${count(UNPRICED(all))} of them without a known price` : '';
  return `${usdSum(USD(all), UNPRICED(all))} for ${counted(REQUESTS(all) ?? 0, 'request')}${unpriced}.`;
}

function plain(times: { readonly from: string; readonly to: string | undefined }): Record<string, string> {
  return times.to === undefined ? { from: times.from } : { from: times.from, to: times.to };
}

type Plain = Exclude<Pivot, 'end_user'>;

/** Dimension of a report: the report by another dimension is shown until the new one has arrived. */
function dimensionOf([row]: readonly UsageRow[] = []): Plain | undefined {
  return PIVOTS.map(([id]) => id).find((id): id is Plain => row !== undefined && id in row);
}

interface PivotedProps {
  readonly rows: readonly UsageRow[];
  readonly by: Plain;
  readonly range: Parameters<typeof useSpan>[0];
  readonly order: string;
  readonly onOrder: (order: string) => void;
}

function Pivoted({ rows, by, range, order, onOrder }: PivotedProps): ReactNode {
  const keys = useKeyNames(by === 'key' || by === 'project' ? rows.map((row) => row[by]) : []);
  const whole = rows.reduce((sum, row) => sum + (USD(row) ?? 0), 0);
  const name = (row: UsageRow): string => {
    const id = row[by] ?? '';
    return id === '' ? 'None' : (keys.get(id) ?? id);
  };
  const number = (
    title: string,
    id: string,
    value: Value,
    write: (value: number | null) => ReactNode,
  ): Column<UsageRow> => ({
    name: title,
    id,
    number: true,
    sort: value,
    cell: (row) => write(value(row)),
  });
  const columns: readonly Column<UsageRow>[] = [
    {
      name: PIVOTS.find(([id]) => id === by)?.[1] ?? '',
      id: 'name',
      sort: name,
      className: 'min-w-[24ch]',
      cell: (row) => (
        <Link
          to="/requests"
          search={{ ...range, [by === 'provider' ? 'attempted' : by]: row[by] ?? undefined }}
          data-row
          className="row-link font-medium"
        >
          {name(row)}
        </Link>
      ),
    },
    {
      name: 'Spend',
      id: 'spend',
      number: true,
      sort: (row) => USD(row),
      cell: (row) => <Money value={USD(row)} unpriced={UNPRICED(row)} />,
    },
    {
      name: 'Share',
      number: true,
      cell: (row) => (whole === 0 || USD(row) === null ? '–' : share((USD(row) ?? 0) / whole)),
    },
    number('Requests', 'requests', REQUESTS, count),
    number('Failed', 'failed', field('failed'), bad),
    number('Refused', 'refused', field('refused'), count),
    ...(by === 'provider' || by === 'endpoint'
      ? [
          number('Attempts', 'attempts', field('attempts'), count),
          number('Failed attempts', 'failed_attempts', field('failed_attempts'), bad),
        ]
      : []),
    number('Tokens in', 'in', TOKENS_IN, short),
    number('Tokens out', 'out', TOKENS_OUT, short),
    number('First token p50', 'p50', field('first_content_ms_p50'), known),
    number('First token p95', 'p95', field('first_content_ms_p95'), known),
    number('Saved by caching', 'saved', field('cache_saved_usd'), usd),
  ];
  const { hidden, toggle } = useHiddenColumns('usage', ['Saved by caching', 'First token p50']);
  return (
    <>
      <div className="flex items-center justify-between px-4 pt-3 pb-1">
        <span className="figures text-soft">{counted(rows.length, 'row')}</span>
        <Menu
          label="Columns"
          entries={columns.slice(1).map(({ name: title }) => ({
            label: title,
            checked: !hidden.includes(title),
            onSelect: () => toggle(title),
          }))}
        >
          <Icon name="columns" />
          <span className="sr-only">Columns</span>
        </Menu>
      </div>
      <Table
        key={by}
        label={`Usage by ${by}`}
        rows={rows}
        keyOf={(row) => row[by] ?? ''}
        columns={columns}
        hidden={hidden}
        order={order}
        onOrder={onOrder}
      />
    </>
  );
}

function bad(value: number | null): ReactNode {
  return value ? <span className="text-bad">{count(value)}</span> : count(value ?? 0);
}

/** A dash for an unknown value. */
function known(value: number | null): string {
  return value === null ? '–' : duration(value);
}
