// Background responses that are still running, above the list of requests. They can be cancelled.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { jobsChangeAt, OPEN_JOBS, useJobChange, type Job } from '../api/jobs.ts';
import { useRead } from '../api/queries.ts';
import { counted } from '../format/numbers.ts';
import { fullTime, shortTime } from '../format/times.ts';
import { Button } from '../ui/button.tsx';
import { Problem } from '../ui/problem.tsx';
import { JobStatus } from '../ui/status.tsx';
import { toast } from '../ui/toast.ts';
import { When } from '../ui/when.tsx';
import { narrowing, type FilterName, type Filters } from './filters.ts';

/** Maximum number of rows. The jobs page lists all. */
const MOST = 8;
/** Filters that can match a request that has not ended. */
const KNOWN: readonly FilterName[] = ['key', 'project', 'model', 'requested_model'];

interface NotEndedProps {
  readonly filters: Filters;
  /** Ids of requests that are already in the list. */
  readonly ended: ReadonlySet<string>;
}

export function NotEnded({ filters, ended }: NotEndedProps): ReactNode {
  const isAsked =
    filters.to === undefined &&
    filters.slow === undefined &&
    narrowing(filters).every((name) => KNOWN.includes(name));
  const { data } = useRead(
    'GET /jobs',
    { query: { state: OPEN_JOBS, limit: 100 } },
    { when: isAsked, pauseMs: 1_000, changesAt: jobsChangeAt },
  );
  const changing = useJobChange(() => toast({ title: 'Response cancelled' }));
  const jobs = isAsked ? (data?.data ?? []).filter((job) => fits(filters, job) && !isIn(ended, job)) : [];
  if (jobs.length === 0) return null;
  return (
    <section aria-label="In progress" className="@container border-b">
      {changing.error && (
        <div className="p-3">
          <Problem error={changing.error} />
        </div>
      )}
      <ul>
        {jobs.slice(0, MOST).map((job) => (
          <li key={job.id} className="flex min-h-9 items-center gap-x-3 px-4 py-0.5">
            <span className="figures hidden w-28 text-soft @3xl:inline" title={fullTime(job.created_at)}>
              {shortTime(job.created_at)}
            </span>
            <span className="@3xl:w-37">
              <JobStatus state={job.state} title={job.waits_for ?? undefined} />
            </span>
            <span className="min-w-0 flex-1 truncate font-medium" title={job.id}>
              {job.model}
            </span>
            <span className="hidden truncate text-soft @md:inline">{job.key_name ?? job.key}</span>
            <span className="hidden text-soft @3xl:inline">
              <When at={job.started_at ?? job.created_at} as="since" />
            </span>
            <Button
              look="quiet"
              icon="close"
              busy={changing.isPending && changing.variables.id === job.id}
              aria-label={`Cancel the response of ${job.model}, ${job.key_name ?? job.key}`}
              onClick={() => changing.mutate({ id: job.id, change: 'cancel' })}
            >
              Cancel
            </Button>
          </li>
        ))}
      </ul>
      {jobs.length > MOST && (
        <Link to="/jobs" search={{ state: 'open' }} className="link block px-4 pb-2">
          {counted(jobs.length - MOST, 'more response')} in the background
        </Link>
      )}
    </section>
  );
}

/** True if a job matches the filters. Jobs without a model are not responses. */
function fits({ key, project, model, requested_model: asked, text = '' }: Filters, job: Job): boolean {
  const isAmong = (wanted: string | undefined, value: string | null): boolean =>
    wanted === undefined || wanted.split(',').some((each) => each.trim() === value);
  const names = [job.model, job.key_name, job.key, job.id];
  return (
    job.model !== null &&
    isAmong(key, job.key) &&
    isAmong(project, job.project) &&
    isAmong(model, job.model) &&
    isAmong(asked, job.model) &&
    names.some((name) => name?.toLowerCase().includes(text.toLowerCase()))
  );
}

/** True if the request of a job is already in the list: its record can appear before the job has ended. */
function isIn(ended: ReadonlySet<string>, { id }: Job): boolean {
  return ended.has(id.slice(id.lastIndexOf('_') + 1));
}
