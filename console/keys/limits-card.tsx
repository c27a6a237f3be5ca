// How far limits and budgets are used, and when a budget runs out at this pace.
import type { ReactNode } from 'react';
import type { Answer } from '../api/client.ts';
import { useLimits } from '../api/limits.ts';
import { useRead } from '../api/queries.ts';
import { count, duration, share, usd } from '../format/numbers.ts';
import { ago } from '../format/times.ts';
import { useHour } from '../format/use-hour.ts';
import { Card } from '../ui/card.tsx';
import { Table } from '../ui/table.tsx';

type Owner = Answer<'GET /limits'>['data'][number];
type Standing = Owner['limits'][number];

const DAY_MS = 86_400_000;

export function LimitsCard(): ReactNode {
  const limits = useLimits();
  const pace = usePace();
  const owners = limits.data?.data.filter(({ limits: standings }) => standings.length > 0) ?? [];
  if (owners.length === 0) return null;
  return (
    <Card title="Limits and budgets" flush>
      <Table
        label="Limits and budgets"
        rows={owners.flatMap(({ id, owner, limits: standings }) =>
          standings.map((standing) => ({ id, owner, standing })),
        )}
        keyOf={({ id, standing }) => `${id} ${standing.text}`}
        columns={[
          {
            name: 'Whose',
            cell: ({ owner }) => (
              <>
                <span className="font-medium">{owner.name || 'the gateway'}</span>{' '}
                <span className="font-normal text-faint">{owner.kind}</span>
              </>
            ),
          },
          { name: 'Limit', cell: ({ standing }) => standing.text },
          { name: 'Used', className: 'md:w-1/4', cell: ({ standing }) => <Used standing={standing} /> },
          { name: 'Left', number: true, cell: ({ standing }) => amount(standing, standing.remaining) },
          {
            name: 'At this pace',
            className: 'text-soft',
            cell: ({ owner, standing }) => forecast(standing, pace(owner)),
          },
        ]}
      />
    </Card>
  );
}

function Used({ standing }: { readonly standing: Standing }): ReactNode {
  const part = standing.used / Math.max(1e-9, standing.used + standing.remaining);
  const tone = part >= 1 ? 'bg-bad' : part >= 0.8 ? 'bg-warn' : 'bg-accent';
  return (
    <div className="flex items-center gap-2">
      <div className="h-2 min-w-12 flex-1 overflow-hidden rounded bg-sunk" aria-hidden="true">
        <div className={`h-full ${tone}`} style={{ width: `${Math.min(1, part) * 100}%` }} />
      </div>
      <span className="figures w-28 text-right text-xs text-soft">
        {amount(standing, standing.used)} ({share(Math.min(1, part))})
      </span>
    </div>
  );
}

function amount({ unit }: Standing, value: number): string {
  return unit === 'usd' ? usd(value) : count(value);
}

/** What the last day cost of an owner, in USD a millisecond; null where it is nobody's sum. */
function usePace(): (owner: Owner['owner']) => number | null {
  const from = new Date(useHour() - DAY_MS).toISOString();
  const sums = {
    gateway: useRead('GET /usage', { query: { from, columns: 'usd' } }).data,
    project: useRead('GET /usage', { query: { from, columns: 'usd', group_by: 'project' } }).data,
    key: useRead('GET /usage', { query: { from, columns: 'usd', group_by: 'key' } }).data,
    provider: useRead('GET /usage', { query: { from, columns: 'usd', group_by: 'provider' } }).data,
  };
  return ({ kind, id }) => {
    const sum = sums[kind];
    if (!sum) return null;
    const row = sum.data.find((each) => kind === 'gateway' || each[kind] === id);
    return (row?.usd ?? 0) / (Date.parse(sum.to) - Date.parse(sum.from));
  };
}

function forecast({ unit, remaining, clears_at: clears }: Standing, pace: number | null): string {
  const frees = clears === null ? '' : `clears ${ago(clears)}`;
  if (unit !== 'usd' || pace === null || pace <= 0) return frees;
  const left = remaining / pace;
  if (clears !== null && Date.now() + left > Date.parse(clears)) return `lasts; ${frees}`;
  return remaining <= 0 ? 'used up' : `runs out in ${duration(left)}`;
}
