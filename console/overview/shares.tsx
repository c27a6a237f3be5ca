// Who has which part of what was asked, in figures.
import { Link } from '@tanstack/react-router';
import { memo, type ReactNode } from 'react';
import { count, duration, share, short, usd } from '../format/numbers.ts';
import { Card } from '../ui/card.tsx';
import { Table, type Column } from '../ui/table.tsx';
import type { Dimension } from './range.ts';
import { field, idOf, TOKENS_IN, TOKENS_OUT, type UsageRow } from './sums.ts';

const USD = field('usd');

interface SharesProps {
  readonly rows: readonly UsageRow[];
  readonly by: Dimension;
  /** Of an id. */
  readonly nameOf: (id: string) => string;
}

export const Shares = memo(function Shares({ rows, by, nameOf }: SharesProps): ReactNode {
  const whole = rows.reduce((sum, row) => sum + (USD(row) ?? 0), 0);
  const number = (name: string, cell: (row: UsageRow) => ReactNode): Column<UsageRow> => ({
    name,
    number: true,
    cell,
  });
  return (
    <Card title={`By ${by}`} flush>
      <Table
        key={by}
        label={`By ${by}`}
        rows={rows}
        keyOf={(row) => idOf(row, by)}
        columns={[
          {
            name: `${by[0]?.toUpperCase()}${by.slice(1)}`,
            className: 'max-w-60 truncate',
            cell: (row) =>
              row[by] == null ? (
                nameOf(idOf(row, by))
              ) : (
                <Link to="/requests" search={{ [by]: row[by] }} className="font-medium hover:underline">
                  {nameOf(idOf(row, by))}
                </Link>
              ),
          },
          number('Requests', (row) => count(field('requests')(row))),
          number('Errors', (row) => count(field('errors')(row))),
          number('Cost', (row) => usd(USD(row))),
          number('Share', (row) => (whole === 0 ? '–' : share((USD(row) ?? 0) / whole))),
          number('Tokens in', (row) => short(TOKENS_IN(row))),
          number('Tokens out', (row) => short(TOKENS_OUT(row))),
          number('First token', (row) => duration(field('first_content_ms_p50')(row))),
          number('Saved', (row) => usd(field('cache_saved_usd')(row))),
        ]}
      />
    </Card>
  );
});
