// Five key figures of the range, each with its change from the previous period and a link to the requests.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { bucketed, field, TOKENS, type UsageRow, type Value } from '../api/sums.ts';
import { change, count, counted, duration, share, short, shortUsd, usdSum } from '../format/numbers.ts';
import type { Filters } from './links.ts';
import type { Grid, RangeSearch } from '../time/range.ts';
import { Spark } from '../ui/spark.tsx';

interface FiguresProps {
  readonly now: UsageRow | null;
  readonly before: UsageRow | null;
  readonly rows: readonly UsageRow[];
  readonly grid: Grid;
  readonly range: RangeSearch;
}

const REQUESTS = field('requests');
const USD = field('usd');
const UNPRICED = field('unpriced_requests');
const FAILED = field('failed');
const REFUSED = field('refused');
const P95 = field('first_content_ms_p95');

const part =
  (of: Value): Value =>
  (row) => {
    const requests = REQUESTS(row) ?? 0;
    return requests === 0 ? null : (of(row) ?? 0) / requests;
  };

export function Figures({ now, before, rows, grid, range }: FiguresProps): ReactNode {
  const of = (value: Value, row: UsageRow | null): number | null => (row ? value(row) : null);
  const series = (value: Value): readonly number[] =>
    bucketed(rows, grid.times.length, grid.placeOf, value).map((each) => each ?? 0);
  const unpriced = of(UNPRICED, now) ?? 0;
  const failed = of(part(FAILED), now);
  const failedBefore = of(part(FAILED), before);
  const points = failed === null || failedBefore === null ? null : (failed - failedBefore) * 100;
  const figures: readonly FigureProps[] = [
    {
      name: 'Requests',
      text: now ? count(of(REQUESTS, now)) : '0',
      change: change(of(REQUESTS, now), of(REQUESTS, before)),
      search: {},
      spark: series(REQUESTS),
    },
    {
      name: 'Spend',
      text: now ? spendText(of(USD, now), unpriced) : '$0',
      change: change(of(USD, now), of(USD, before)),
      note: unpriced > 0 ? `${counted(unpriced, 'request')} without a price` : null,
      search: { order: '-cost' },
      spark: series(USD),
    },
    {
      name: 'Failed',
      text: failed === null ? 'No request' : share(failed),
      change:
        points === null || Math.abs(points) < 0.05
          ? null
          : `${points > 0 ? '▲' : '▼'} ${Math.abs(points).toFixed(1)} points`,
      isBad: (points ?? 0) >= 0.5,
      note: of(REFUSED, now) ? `refused ${share(of(part(REFUSED), now))}` : null,
      search: { state: 'failed,broken_stream' },
      spark: series(FAILED),
    },
    {
      name: 'First token, p95',
      text: of(P95, now) === null ? 'No response' : duration(of(P95, now)),
      change: change(of(P95, now), of(P95, before)),
      search: { order: '-first_content' },
      spark: series(P95),
    },
    {
      name: 'Tokens',
      text: now ? short(of(TOKENS, now)) : '0',
      change: change(of(TOKENS, now), of(TOKENS, before)),
      search: { order: '-tokens' },
      spark: series(TOKENS),
    },
  ];
  return (
    <section
      aria-label="Figures"
      className="flex flex-wrap gap-px overflow-hidden rounded-lg border bg-line *:min-w-0 *:flex-1 *:basis-[calc(50%-1px)] sm:*:basis-[calc(33%-1px)] xl:*:basis-0"
    >
      {figures.map((figure) => (
        <Figure key={figure.name} {...figure} search={{ ...range, ...figure.search }} />
      ))}
    </section>
  );
}

/** Spend in USD from which cents say nothing, and do not fit. */
const LARGE_USD = 100_000;

function spendText(usd: number | null, unpriced: number): string {
  if (usd === null || usd < LARGE_USD) return usdSum(usd, unpriced);
  return `${unpriced > 0 ? '≥ ' : ''}${shortUsd(usd)}`;
}

interface FigureProps {
  readonly name: string;
  readonly text: string;
  readonly change: string | null;
  readonly isBad?: boolean;
  readonly note?: string | null;
  readonly search: Filters;
  readonly spark: readonly number[];
}

function Figure({ name, text, change: changed, isBad, note, search, spark }: FigureProps): ReactNode {
  return (
    <Link
      to="/requests"
      search={search}
      className="group min-w-0 bg-card px-4 py-3 outline-offset-[-2px] last:col-span-2 sm:last:col-span-1"
    >
      <span className="text-xs font-medium text-soft">{name}</span>
      <span className="flex flex-wrap items-baseline gap-x-2">
        <span className="figures text-2xl font-semibold tracking-tight group-hover:underline">{text}</span>
        {changed !== null && (
          <span
            className={`figures text-xs ${isBad === true ? 'text-bad' : 'text-soft'}`}
            title="Compared with the preceding period"
          >
            {changed}
          </span>
        )}
      </span>
      <span className="figures block min-h-4 truncate text-xs text-faint">{note}</span>
      <span className="mt-1 block text-faint">
        <Spark values={spark} width={160} />
      </span>
    </Link>
  );
}
