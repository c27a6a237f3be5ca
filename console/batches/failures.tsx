// Failed lines of a batch: kind, error message, and a link to each request.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Batch, BatchFailure } from '../api/batches.ts';
import { useList } from '../api/queries.ts';
import { count } from '../format/numbers.ts';
import { words } from '../format/states.ts';
import { Card, Waiting } from '../ui/card.tsx';
import { More } from '../ui/more.tsx';
import { Problem } from '../ui/problem.tsx';
import { Table, type Column } from '../ui/table.tsx';

/** Maximum number of failed lines that the gateway stores for this list. */
const KEPT = 1_000;

const COLUMNS: readonly Column<BatchFailure>[] = [
  {
    name: 'Line',
    className: 'min-w-[16ch]',
    cell: ({ line, custom_id: name, generation }) => (
      <>
        {generation === null ? (
          <span className="font-medium">{count(line)}</span>
        ) : (
          <Link
            to="/requests/$id"
            params={{ id: generation }}
            data-row
            className="row-link font-medium"
            aria-label={`Request of line ${line}`}
          >
            {count(line)}
          </Link>
        )}
        {name !== null && (
          <span className="ml-2 font-mono text-xs font-normal break-all text-faint">{name}</span>
        )}
      </>
    ),
  },
  {
    name: 'Status',
    cell: ({ status }) => status ?? <span className="whitespace-nowrap text-faint">Not run</span>,
  },
  { name: 'Kind', cell: ({ code }) => words(code) },
  {
    name: 'Why',
    className: 'max-w-[60ch] break-words',
    cell: ({ message }) => <span className="text-soft">{message}</span>,
  },
];

export function Failures({ batch: { id, lines, error_file: file } }: { readonly batch: Batch }): ReactNode {
  const list = useList('GET /batches/{id}/failures', {}, { pauseMs: 2_000, params: { id } });
  const { failed } = lines;
  if (failed === 0 && (list.rows ?? []).length === 0)
    return (
      <Card title="Failed lines">
        <p className="text-soft">No failed lines.</p>
      </Card>
    );
  return (
    <Card title="Failed lines" flush>
      {list.error && <Problem error={list.error} />}
      {!list.rows && !list.error && <Waiting rows={4} />}
      {list.rows && (
        <Table label="Failed lines" rows={list.rows} keyOf={({ line }) => String(line)} columns={COLUMNS} />
      )}
      <More list={list} />
      {failed > KEPT && (
        <p className="border-t px-4 py-2 text-faint">
          The first {count(KEPT)} of {count(failed)} are kept here.
          {file !== null && ' The error file contains all of them.'}
        </p>
      )}
    </Card>
  );
}
