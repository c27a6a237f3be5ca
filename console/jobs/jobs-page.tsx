// Jobs page: length and age of the queue, and jobs by state. Jobs can be cancelled or retried.
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Answer } from '../api/client.ts';
import { OPEN_JOBS, useJobChange, type JobChange } from '../api/jobs.ts';
import { useList, useRead } from '../api/queries.ts';
import { count, counted } from '../format/numbers.ts';
import { JOB_STATES, words, type JobState } from '../format/states.ts';
import { Card, Empty, Page, Waiting } from '../ui/card.tsx';
import { Choice } from '../ui/choice.tsx';
import { GuideLink } from '../ui/guide.tsx';
import { More } from '../ui/more.tsx';
import { Problem } from '../ui/problem.tsx';
import { Numbered, Segments } from '../ui/segments.tsx';
import { toast } from '../ui/toast.ts';
import { When } from '../ui/when.tsx';
import { JobsTable } from './jobs-table.tsx';

const here = getRouteApi('/jobs');
const STATES = Object.keys(JOB_STATES) as JobState[];
const SAID: Readonly<Record<JobChange, string>> = { cancel: 'Job cancelled', retry: 'Job queued again' };

type Count = Answer<'GET /jobs/counts'>['data'][number];

export function JobsPage(): ReactNode {
  const { state, kind } = here.useSearch();
  const navigate = here.useNavigate();
  const counts = useRead('GET /jobs/counts', {}, { pauseMs: 3_000 });
  const known = STATES.some((each) => each === state) || state === 'open';
  const list = useList(
    'GET /jobs',
    {
      ...(known && { state: state === 'open' ? OPEN_JOBS : state }),
      ...(kind !== undefined && { kind }),
    },
    { pauseMs: 1_000 },
  );
  const changing = useJobChange(({ id }, change) =>
    toast({
      title: SAID[change],
      ...(change === 'cancel' && { undo: () => changing.mutate({ id, change: 'retry' }) }),
    }),
  );
  const narrow = (nextState: string | undefined, nextKind: string | undefined): void =>
    void navigate({
      search: { ...(nextState && { state: nextState }), ...(nextKind && { kind: nextKind }) },
      replace: true,
    });
  const all = counts.data?.data ?? [];
  const ofKind = all.filter((each) => kind === undefined || each.kind === kind);
  const numberOf = (of: JobState | 'open' | undefined): number | undefined => counts.data && sum(ofKind, of);
  const kinds = [...new Set(all.map((each) => each.kind))].toSorted();
  return (
    <Page title="Jobs">
      <div className="flex flex-col gap-4">
        {counts.data && <Sentence counts={ofKind} />}
        <div className="flex flex-wrap items-center gap-3">
          <Segments
            label="State"
            options={[
              ['', <Numbered word="All" number={numberOf(undefined)} />],
              ['open', <Numbered word="Not ended" number={numberOf('open')} />],
              ...STATES.map(
                (each) => [each, <Numbered word={JOB_STATES[each].word} number={numberOf(each)} />] as const,
              ),
            ]}
            isChosen={(each) => each === (known ? state : '')}
            onChoose={(each) => narrow(each, kind)}
          />
          {kinds.length > 1 && (
            <Choice
              label="Kind"
              value={kind ?? ''}
              options={[['', 'All kinds'], ...kinds.map((each) => [each, words(each)] as const)]}
              onChange={(next) => narrow(known ? state : undefined, next)}
            />
          )}
        </div>
        {(list.error ?? changing.error) && <Problem error={list.error ?? changing.error} />}
        <Card flush>
          {!list.rows && !list.error && <Waiting rows={8} />}
          {list.rows?.length === 0 && (
            <Empty icon="jobs" title={known ? 'No jobs in this state' : 'No jobs yet'}>
              Responses with <code className="font-mono">background: true</code> or{' '}
              <code className="font-mono">Prefer: respond-async</code> run as jobs, independent of client
              connections. <GuideLink to="/background">Background responses</GuideLink>
            </Empty>
          )}
          {list.rows && list.rows.length > 0 && (
            <JobsTable jobs={list.rows} onChange={(id, change) => changing.mutate({ id, change })} />
          )}
          <More list={list} />
        </Card>
      </div>
    </Page>
  );
}

const OPEN = new Set(OPEN_JOBS.split(','));

/** @param of a state, `open` for all that have not ended, or undefined for all */
function sum(counts: readonly Count[], of: JobState | 'open' | undefined): number {
  return counts
    .filter(({ state }) => of === undefined || state === of || (of === 'open' && OPEN.has(state)))
    .reduce((whole, { jobs }) => whole + jobs, 0);
}

/** Words after the number of each state in the summary. */
const WORDS: Readonly<Record<'running' | 'queued' | 'waiting' | 'failed', string>> = {
  running: 'running',
  queued: 'queued',
  waiting: 'waiting for capacity',
  failed: 'failed',
};

/** Number of jobs by state, and how long the oldest queued job has waited. */
function Sentence({ counts }: { readonly counts: readonly Count[] }): ReactNode {
  const parts = (Object.keys(WORDS) as (keyof typeof WORDS)[]).flatMap((state) => {
    const jobs = sum(counts, state);
    return jobs === 0 ? [] : [`${count(jobs)} ${WORDS[state]}`];
  });
  const [oldest] = counts
    .filter(({ state }) => state === 'queued' || state === 'waiting')
    .map(({ oldest_at: at }) => at)
    .toSorted();
  return (
    <p className="text-base" aria-live="polite">
      {counted(sum(counts, undefined), 'job')}
      {parts.length > 0 && `: ${parts.join(', ')}`}.
      {oldest !== undefined && (
        <>
          {' '}
          Oldest added <When at={oldest} as="ago" />.
        </>
      )}
    </p>
  );
}
