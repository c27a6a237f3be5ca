// Top lists: keys and models by spend, endpoints by latency, and error kinds by count.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useKeyNames } from '../api/key-names.ts';
import { useRead } from '../api/queries.ts';
import { field, type UsageRow, type Value } from '../api/sums.ts';
import { count, duration } from '../format/numbers.ts';
import { words } from '../format/states.ts';
import type { RangeSearch } from '../time/range.ts';
import { Card, Waiting } from '../ui/card.tsx';
import { Money } from '../ui/money.tsx';
import { kindsIn } from './failure-chart.tsx';
import type { Filters } from './links.ts';

const MOST = 5;
const USD = field('usd');
const UNPRICED = field('unpriced_requests');
const P95 = field('first_content_ms_p95');

interface TopListsProps {
  readonly times: { readonly from: string; readonly to: string | undefined };
  readonly range: RangeSearch;
  readonly total: UsageRow;
}

export function TopLists({ times, range, total }: TopListsProps): ReactNode {
  const keys = useTop(times, 'key', 'usd', USD);
  const models = useTop(times, 'model', 'usd', USD);
  const slow = useTop(times, 'endpoint', 'first_content_ms_p95', P95);
  const names = useKeyNames(keys?.map(({ key }) => key) ?? []);
  const kinds = kindsIn([total]).slice(0, MOST);
  return (
    <div className="grid gap-4 md:grid-cols-2 2xl:grid-cols-4">
      <Top
        title="Top keys"
        rows={keys?.map((row) => ({
          id: row.key ?? '',
          name: names.get(row.key ?? '') ?? row.key ?? 'No key',
          value: USD(row) ?? 0,
          text: <Money value={USD(row)} unpriced={UNPRICED(row)} />,
          search: { ...range, key: row.key ?? undefined, order: '-cost' },
        }))}
        empty="No spend by any key."
      />
      <Top
        title="Top models"
        rows={models?.map((row) => ({
          id: row.model ?? '',
          name: row.model ?? 'No model',
          value: USD(row) ?? 0,
          text: <Money value={USD(row)} unpriced={UNPRICED(row)} />,
          search: { ...range, model: row.model ?? undefined, order: '-cost' },
        }))}
        empty="No spend on any model."
      />
      <Top
        title="Slowest endpoints, first token p95"
        rows={slow
          ?.filter((row) => P95(row) !== null)
          .map((row) => ({
            id: row.endpoint ?? '',
            name: row.endpoint ?? '',
            value: P95(row) ?? 0,
            text: duration(P95(row)),
            search: { ...range, endpoint: row.endpoint ?? undefined, order: '-first_content' },
          }))}
        empty="No responses."
      />
      <Top
        title="Kinds of failure"
        rows={kinds.map(([kind, number]) => ({
          id: kind,
          name: words(kind),
          value: number,
          text: count(number),
          search: { ...range, error_kind: kind },
        }))}
        empty="No failed or refused requests."
      />
    </div>
  );
}

/** The groups with the highest values. Undefined while loading. */
function useTop(
  times: TopListsProps['times'],
  by: 'key' | 'model' | 'endpoint',
  column: string,
  value: Value,
): readonly UsageRow[] | undefined {
  const { data } = useRead(
    'GET /usage',
    { query: { ...times, group_by: by, columns: `requests,unpriced_requests,${column}` } },
    { pauseMs: 15_000 },
  );
  return data?.data
    .filter((row) => row[by] != null)
    .toSorted((a, b) => (value(b) ?? 0) - (value(a) ?? 0))
    .slice(0, MOST);
}

interface Ranked {
  readonly id: string;
  readonly name: string;
  readonly value: number;
  readonly text: ReactNode;
  readonly search: Filters;
}

interface TopProps {
  readonly title: string;
  readonly rows: readonly Ranked[] | undefined;
  readonly empty: string;
}

function Top({ title, rows, empty }: TopProps): ReactNode {
  const most = Math.max(0, ...(rows ?? []).map(({ value }) => value));
  return (
    <Card title={title}>
      {rows === undefined && <Waiting rows={MOST} />}
      {rows?.length === 0 && <p className="text-soft">{empty}</p>}
      <ol className="flex flex-col">
        {rows?.map(({ id, name, value, text, search }) => (
          <li key={id}>
            <Link
              to="/requests"
              search={search}
              className="target group relative flex h-8 items-center gap-3"
            >
              <span
                aria-hidden="true"
                className="absolute inset-y-1 -left-1.5 rounded bg-sunk"
                style={{ width: most === 0 ? 0 : `calc((100% + 0.75rem) * ${value / most})` }}
              />
              <span className="relative min-w-0 flex-1 truncate group-hover:underline">{name}</span>
              <span className="figures relative">{text}</span>
            </Link>
          </li>
        ))}
      </ol>
    </Card>
  );
}
