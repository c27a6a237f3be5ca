// Batches page: number of running batches, and the list with progress and cost.
import { getRouteApi } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { OPEN_BATCHES, type Batch } from '../api/batches.ts';
import type { Answer } from '../api/client.ts';
import { useList, useRead } from '../api/queries.ts';
import { count, counted } from '../format/numbers.ts';
import { BATCH_STATES, type BatchState } from '../format/states.ts';
import { Card, Empty, Page, Waiting } from '../ui/card.tsx';
import { GuideLink } from '../ui/guide.tsx';
import { More } from '../ui/more.tsx';
import { Problem } from '../ui/problem.tsx';
import { Numbered, Segments } from '../ui/segments.tsx';
import { BatchesTable } from './batches-table.tsx';
import { CancelDialog } from './cancel-dialog.tsx';

const here = getRouteApi('/batches');
const ENDS = ['completed', 'failed', 'expired', 'cancelled'] as const;
const OPEN = new Set(OPEN_BATCHES.split(','));

type Count = Answer<'GET /batches/counts'>['data'][number];

export function BatchesPage(): ReactNode {
  const { status } = here.useSearch();
  const navigate = here.useNavigate();
  const [cancelled, setCancelled] = useState<Batch | null>(null);
  const counts = useRead('GET /batches/counts', {}, { pauseMs: 3_000 });
  const known = status === 'open' || ENDS.some((each) => each === status);
  const list = useList(
    'GET /batches',
    { ...(known && { status: status === 'open' ? OPEN_BATCHES : status }) },
    { pauseMs: 1_000 },
  );
  const all = counts.data?.data ?? [];
  const numberOf = (of: BatchState | 'open' | undefined): number | undefined => counts.data && sum(all, of);
  const narrow = (next: string): void =>
    void navigate({ search: next === '' ? {} : { status: next }, replace: true });
  return (
    <Page title="Batches">
      <div className="flex flex-col gap-4">
        {counts.data && <Sentence counts={all} />}
        <div className="flex">
          <Segments
            label="State"
            options={[
              ['', <Numbered word="All" number={numberOf(undefined)} />],
              ['open', <Numbered word="Not ended" number={numberOf('open')} />],
              ...ENDS.map(
                (each) =>
                  [each, <Numbered word={BATCH_STATES[each].word} number={numberOf(each)} />] as const,
              ),
            ]}
            isChosen={(each) => each === (known ? status : '')}
            onChoose={narrow}
          />
        </div>
        {list.error && <Problem error={list.error} />}
        <Card flush>
          {!list.rows && !list.error && <Waiting rows={8} />}
          {list.rows?.length === 0 && (
            <Empty icon="batches" title={known ? 'No batches in this state' : 'No batches yet'}>
              A batch is a file of requests. Upload it with <code className="font-mono">purpose: batch</code>{' '}
              and send <code className="font-mono">POST /v1/batches</code>.{' '}
              <GuideLink to="/batches">Batches</GuideLink>
            </Empty>
          )}
          {list.rows && list.rows.length > 0 && <BatchesTable batches={list.rows} onCancel={setCancelled} />}
          <More list={list} />
        </Card>
      </div>
      {cancelled && <CancelDialog batch={cancelled} onClose={() => setCancelled(null)} />}
    </Page>
  );
}

/** @param of a state, `open` for all that have not ended, or undefined for all */
function sum(counts: readonly Count[], of: BatchState | 'open' | undefined): number {
  return counts
    .filter(({ status }) => of === undefined || status === of || (of === 'open' && OPEN.has(status)))
    .reduce((whole, { batches }) => whole + batches, 0);
}

/** Number of batches that are running, and of those that ended unsuccessfully. */
function Sentence({ counts }: { readonly counts: readonly Count[] }): ReactNode {
  const parts = (['open', 'failed', 'expired'] as const).flatMap((of) => {
    const batches = sum(counts, of);
    return batches === 0 ? [] : [`${count(batches)} ${of === 'open' ? 'not ended' : of}`];
  });
  return (
    <p className="text-base" aria-live="polite">
      {counted(sum(counts, undefined), 'batch', 'batches')}
      {parts.length > 0 && `: ${parts.join(', ')}`}.
    </p>
  );
}
