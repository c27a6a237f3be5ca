// Table of batches: progress, cost so far, and end.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Batch } from '../api/batches.ts';
import { duration } from '../format/numbers.ts';
import { copyText } from '../ui/copy-text.ts';
import { Menu, type MenuEntry } from '../ui/menu.tsx';
import { Money } from '../ui/money.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { toast } from '../ui/toast.ts';
import { When } from '../ui/when.tsx';
import { BatchState, Progress } from './progress.tsx';

interface BatchesTableProps {
  readonly batches: readonly Batch[];
  readonly onCancel: (batch: Batch) => void;
}

export function BatchesTable({ batches, onCancel }: BatchesTableProps): ReactNode {
  const columns: readonly Column<Batch>[] = [
    {
      name: 'Batch',
      className: 'min-w-[24ch]',
      cell: ({ id, protocol }) => (
        <>
          <Link
            to="/batches/$id"
            params={{ id }}
            data-row
            className="row-link font-mono text-xs font-medium break-all"
          >
            {id}
          </Link>
          <span className="block text-xs font-normal text-faint">{protocol}</span>
        </>
      ),
    },
    { name: 'State', cell: (batch) => <BatchState batch={batch} /> },
    {
      name: 'Lines',
      cell: ({ lines }) => (
        <span className="flex justify-end md:justify-start">
          <Progress lines={lines} />
        </span>
      ),
    },
    {
      name: 'Cost',
      number: true,
      cell: ({ cost_usd: cost, unpriced_lines: unpriced }) => <Money value={cost} unpriced={unpriced} />,
    },
    { name: 'Key', cell: ({ key, key_name: name }) => name ?? key },
    { name: 'Created', cell: ({ created_at: at }) => <When at={at} as="ago" /> },
    { name: 'Ends', cell: (batch) => <Ends batch={batch} /> },
    {
      name: 'Actions',
      unnamed: true,
      className: 'w-12 text-right',
      cell: (batch) => (
        <span className="-my-1 inline-block">
          <Menu label={`Actions for ${batch.id}`} entries={entriesOf(batch, onCancel)} />
        </span>
      ),
    },
  ];
  return <Table label="Batches" rows={batches} keyOf={({ id }) => id} columns={columns} />;
}

/** Deadline of a running batch, when its cancellation was requested, or when it ended, and its duration. */
function Ends({
  batch: { ended_at: end, created_at: begin, deadline_at: latest, cancel_requested_at: cancelled },
}: {
  readonly batch: Batch;
}): ReactNode {
  if (end === null && cancelled !== null)
    return (
      <span className="whitespace-nowrap">
        cancel requested <When at={cancelled} as="ago" />
      </span>
    );
  if (end === null)
    return (
      <span className="whitespace-nowrap">
        at the latest <When at={latest} as="ahead" />
      </span>
    );
  return (
    <span className="whitespace-nowrap">
      <When at={end} as="ago" />{' '}
      <span className="text-faint">after {duration(Date.parse(end) - Date.parse(begin))}</span>
    </span>
  );
}

function entriesOf(batch: Batch, onCancel: BatchesTableProps['onCancel']): readonly MenuEntry[] {
  const mayCancel = batch.outcome === null && batch.cancel_requested_at === null;
  return [
    ...(mayCancel
      ? [{ label: 'Cancel…', icon: 'close', danger: true, onSelect: () => onCancel(batch) } as const]
      : []),
    {
      label: 'Copy id',
      icon: 'copy',
      onSelect: () => void copyText(batch.id).then(() => toast({ title: 'Id copied' })),
    },
  ];
}
