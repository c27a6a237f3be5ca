// Columns of the list of requests.
import type { ReactNode } from 'react';
import { count, duration, exactUsd, short } from '../format/numbers.ts';
import { fullTime, shortTime } from '../format/times.ts';
import { Money } from '../ui/money.tsx';
import { RequestStatus } from '../ui/status.tsx';
import type { RequestRow } from './use-requests.ts';

export interface RequestColumn {
  readonly name: string;
  /** Value of `order_by` in the API. */
  readonly order?: 'time' | 'duration' | 'first_content' | 'cost' | 'tokens';
  readonly number?: boolean;
  /** CSS grid track size. */
  readonly width: string;
  readonly cell: (row: RequestRow, longest: number) => ReactNode;
}

export const REQUEST_COLUMNS: readonly RequestColumn[] = [
  {
    name: 'Time',
    order: 'time',
    width: '7rem',
    cell: (row) => (
      <span className="figures text-soft" title={fullTime(row.created_at)}>
        {shortTime(row.created_at)}
      </span>
    ),
  },
  {
    name: 'Status',
    width: '9.25rem',
    cell: (row) => <RequestStatus state={row.state} status={row.status} />,
  },
  {
    name: 'Model',
    width: 'minmax(10rem, 1.6fr)',
    cell: (row) => (
      <span className="block truncate font-medium" title={row.requested_model}>
        {row.model ?? row.requested_model}
      </span>
    ),
  },
  {
    name: 'Provider',
    width: 'minmax(6rem, 1fr)',
    cell: (row) => {
      const others = row.attempts - 1;
      return (
        <span className="block truncate text-soft" title={row.attempted.join(' → ')}>
          {row.provider ?? row.attempted.at(-1) ?? 'None called'}
          {others > 0 && <span className="figures ml-1 text-xs text-info">+{others}</span>}
        </span>
      );
    },
  },
  {
    name: 'Key',
    width: 'minmax(5rem, 1fr)',
    cell: (row) => <span className="block truncate text-soft">{row.key_name ?? row.key_id}</span>,
  },
  {
    name: 'Tokens',
    order: 'tokens',
    number: true,
    width: '6.5rem',
    cell: (row) =>
      row.tokens === null ? (
        <span className="text-faint">–</span>
      ) : (
        <span title={`${count(row.tokens.input)} in, ${count(row.tokens.output)} out`}>
          {short(row.tokens.input)} → {short(row.tokens.output)}
        </span>
      ),
  },
  { name: 'Cost', order: 'cost', number: true, width: '4.75rem', cell: (row) => <Cost row={row} /> },
  {
    name: 'First token',
    order: 'first_content',
    number: true,
    width: '5.25rem',
    cell: (row) =>
      row.first_content_ms === null ? <span className="text-faint">–</span> : duration(row.first_content_ms),
  },
  {
    name: 'Duration',
    order: 'duration',
    number: true,
    width: '7rem',
    cell: (row, longest) => (
      <span className="flex items-center justify-end gap-2">
        {row.duration_ms === null ? '–' : duration(row.duration_ms)}
        <svg viewBox="0 0 40 4" className="h-1 w-10 rounded-sm bg-sunk" aria-hidden="true">
          <rect
            width={Math.max(1, (40 * (row.duration_ms ?? 0)) / Math.max(1, longest))}
            height="4"
            className="fill-faint"
          />
        </svg>
      </span>
    ),
  },
];

/** A dash if nothing was charged, "Unknown" if the price is unknown. */
function Cost({ row }: { readonly row: RequestRow }): ReactNode {
  if (row.unpriced) return <Money value={null} />;
  if (row.cost_usd === null) return <span className="text-faint">–</span>;
  return (
    <span title={exactUsd(row.cost_usd)}>
      <Money value={row.cost_usd} />
    </span>
  );
}
