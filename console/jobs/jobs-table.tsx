// Table of jobs: kind, owner, progress, and why a job waits or failed.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Job, JobChange } from '../api/jobs.ts';
import { duration } from '../format/numbers.ts';
import { words } from '../format/states.ts';
import { copyText } from '../ui/copy-text.ts';
import { Menu, type MenuEntry } from '../ui/menu.tsx';
import { JobStatus } from '../ui/status.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { toast } from '../ui/toast.ts';
import { When } from '../ui/when.tsx';

interface JobsTableProps {
  readonly jobs: readonly Job[];
  readonly onChange: (id: string, change: JobChange) => void;
}

export function JobsTable({ jobs, onChange }: JobsTableProps): ReactNode {
  const columns: readonly Column<Job>[] = [
    {
      name: 'Job',
      className: 'min-w-[24ch]',
      cell: (job) => (
        <>
          <Made job={job} />
          <span className="block text-xs font-normal text-faint">
            {nameOf(job) !== words(job.kind) && `${words(job.kind)} · `}
            <span className="font-mono break-all">{job.id}</span>
          </span>
        </>
      ),
    },
    {
      name: 'State',
      cell: ({ state, cancel_requested: isLeaving, ended_at: end }) => (
        <>
          <JobStatus state={state} />
          {isLeaving && end === null && <span className="ml-1 text-xs text-faint">is being cancelled</span>}
        </>
      ),
    },
    {
      name: 'Key',
      cell: ({ key, key_name: name }) => name ?? (key === '' ? <span className="text-faint">–</span> : key),
    },
    { name: 'Attempts', number: true, cell: ({ attempt }) => attempt },
    { name: 'Added', cell: ({ created_at: at }) => <When at={at} as="ago" /> },
    { name: 'Took', number: true, cell: (job) => <Took job={job} /> },
    {
      name: 'Why',
      className: 'max-w-96 break-words',
      cell: ({ waits_for: reason, waits_since: since, error }) =>
        error ? (
          <span className="text-soft">{error.message}</span>
        ) : reason === null ? (
          <span className="text-faint">–</span>
        ) : (
          <span className="text-soft">
            {reason} {since !== null && <When at={since} as="since" />}
          </span>
        ),
    },
    {
      name: 'Actions',
      unnamed: true,
      className: 'w-12 text-right',
      cell: (job) => (
        <span className="-my-1 inline-block">
          <Menu label={`Actions for ${job.id}`} entries={entriesOf(job, onChange)} />
        </span>
      ),
    },
  ];
  return <Table label="Jobs" rows={jobs} keyOf={({ id }) => id} columns={columns} />;
}

/** Kind of jobs that run batches. */
const BATCH = 'batch';

/** Model of a job, type of the event that it delivers, or its kind. */
function nameOf({ kind, model, event_type: event }: Job): string {
  return model ?? event ?? words(kind);
}

/** Name of a job, linked to its request or batch if there is one. */
function Made({ job }: { readonly job: Job }): ReactNode {
  const { id, kind, generation } = job;
  const name = nameOf(job);
  if (kind === BATCH)
    return (
      <Link to="/batches/$id" params={{ id }} data-row className="row-link font-medium">
        {name}
      </Link>
    );
  if (generation === null) return <span className="font-medium">{name}</span>;
  return (
    <Link to="/requests/$id" params={{ id: generation }} data-row className="row-link font-medium">
      {name}
    </Link>
  );
}

/** Duration from the first start to the end. */
function Took({ job: { started_at: begin, ended_at: end } }: { readonly job: Job }): ReactNode {
  if (begin === null) return <span className="text-faint">–</span>;
  if (end === null) return <When at={begin} as="since" />;
  return duration(Date.parse(end) - Date.parse(begin));
}

function entriesOf(
  { id, state, ended_at: end }: Job,
  onChange: JobsTableProps['onChange'],
): readonly MenuEntry[] {
  return [
    ...(end === null
      ? [{ label: 'Cancel', icon: 'close', danger: true, onSelect: () => onChange(id, 'cancel') } as const]
      : []),
    ...(state === 'failed' || state === 'cancelled'
      ? [{ label: 'Try again', icon: 'rotate', onSelect: () => onChange(id, 'retry') } as const]
      : []),
    {
      label: 'Copy id',
      icon: 'copy',
      onSelect: () => void copyText(id).then(() => toast({ title: 'Id copied' })),
    },
  ];
}
