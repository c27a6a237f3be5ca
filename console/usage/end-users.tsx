// Usage by end user, as named by clients, ordered by spend.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useKeyNames } from '../api/key-names.ts';
import { useRead } from '../api/queries.ts';
import { count, short } from '../format/numbers.ts';
import { Card, Empty, Waiting } from '../ui/card.tsx';
import { Money } from '../ui/money.tsx';
import { isRepeated, Problem } from '../ui/problem.tsx';
import { Table } from '../ui/table.tsx';

/** Maximum number of rows. The CSV export has all. */
const MOST = 500;

interface EndUsersProps {
  readonly times: { readonly from: string; readonly to: string | undefined };
  /** Error that the page shows, which is not repeated. */
  readonly shownError: Error | null;
}

export function EndUsers({ times, shownError }: EndUsersProps): ReactNode {
  const { data, error } = useRead('GET /usage/end-users', { query: times }, { pauseMs: 15_000 });
  const rows = data?.data ?? [];
  const names = useKeyNames(rows.slice(0, MOST).map(({ project }) => project));
  if (error) return isRepeated(error, shownError) ? null : <Problem error={error} />;
  return (
    <Card flush>
      {!data && <Waiting rows={8} />}
      {data?.data.length === 0 && (
        <Empty icon="usage" title="No end users in this period">
          Programs set them with <code className="font-mono">user</code> or{' '}
          <code className="font-mono">metadata.user_id</code>.
        </Empty>
      )}
      {rows.length > 0 && (
        <>
          <p className="figures px-4 py-2 text-soft">
            Showing {count(Math.min(MOST, rows.length))} of {count(rows.length)}
          </p>
          <Table
            label="Usage by end user"
            rows={rows.slice(0, MOST)}
            keyOf={({ project, end_user: user }) => `${project} ${user ?? ''}`}
            columns={[
              {
                name: 'End user',
                className: 'max-w-80 break-all',
                cell: ({ end_user: user }) =>
                  user === null ? (
                    'Others together'
                  ) : (
                    <Link
                      to="/requests"
                      search={{ end_user: user }}
                      data-row
                      className="row-link font-medium"
                    >
                      {user}
                    </Link>
                  ),
              },
              { name: 'Project', cell: ({ project }) => names.get(project) ?? project },
              {
                name: 'Spend',
                number: true,
                cell: ({ usd, unpriced_requests: unpriced }) => <Money value={usd} unpriced={unpriced} />,
              },
              { name: 'Requests', number: true, cell: ({ requests }) => count(requests) },
              { name: 'Failed or refused', number: true, cell: ({ errors }) => count(errors) },
              { name: 'Tokens in', number: true, cell: ({ input }) => short(input) },
              { name: 'Tokens out', number: true, cell: ({ output }) => short(output) },
            ]}
          />
        </>
      )}
    </Card>
  );
}
