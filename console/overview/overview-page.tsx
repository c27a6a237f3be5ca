// Overview page: open problems, key figures compared with the previous period, two charts and top lists.
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useRead } from '../api/queries.ts';
import { DIMENSIONS, TOKEN_COLUMNS } from '../api/sums.ts';
import { SpendChart } from '../charts/spend-chart.tsx';
import { OpenProblems } from '../problems/open-problems.tsx';
import { useSpan } from '../time/use-span.ts';
import { Card, Empty, Page, Waiting } from '../ui/card.tsx';
import { Choice } from '../ui/choice.tsx';
import { Problem } from '../ui/problem.tsx';
import { FailureChart } from './failure-chart.tsx';
import { Figures } from './figures.tsx';
import { FirstUse } from './first-use.tsx';
import { readView } from './view.ts';
import { TopLists } from './top-lists.tsx';

const here = getRouteApi('/');

const COLUMNS = [
  'requests',
  'failed',
  'refused',
  'cancelled',
  'usd',
  'unpriced_requests',
  'first_content_ms_p95',
  'errors_by_kind',
  ...TOKEN_COLUMNS,
].join();

export function OverviewPage(): ReactNode {
  const { by = 'model', ...range } = here.useSearch();
  const navigate = here.useNavigate();
  const { span, grid, times } = useSpan(range);
  const all = useRead(
    'GET /usage',
    { query: { ...times, interval: span.interval, totals: 'true', compare: 'true', columns: COLUMNS } },
    { pauseMs: 15_000 },
  );
  const total = all.data?.totals?.all;
  const newest = useRead(
    'GET /generations',
    { query: { limit: 1 } },
    { when: total === null, pauseMs: 15_000 },
  );
  const select = (from: number, to: number): void =>
    void navigate({
      search: {
        ...(by !== 'model' && { by }),
        from: new Date(from).toISOString(),
        to: new Date(to).toISOString(),
      },
    });
  return (
    <Page title="Overview" overTime>
      <div className="flex flex-col gap-4">
        <OpenProblems />
        {all.error && <Problem error={all.error} />}
        {all.isPending && !all.error && <Waiting rows={8} />}
        {all.data && (
          <Figures
            now={total ?? null}
            before={all.data.before?.all ?? null}
            rows={all.data.data}
            grid={grid}
            range={range}
          />
        )}
        {total === null && newest.data && (newest.data.data.length === 0 ? <FirstUse /> : <Quiet />)}
        {all.data && total != null && (
          <>
            <div className="grid gap-4 xl:grid-cols-2">
              <SpendChart
                whole={all.data.data}
                by={by}
                range={range}
                aside={
                  <Choice
                    label="Divided by"
                    value={by}
                    options={DIMENSIONS.map((each) => [each, `By ${each}`])}
                    onChange={(next) =>
                      void navigate({
                        search: (before) => ({ ...before, ...readView({ by: next }) }),
                        replace: true,
                      })
                    }
                  />
                }
                onRange={select}
              />
              <FailureChart rows={all.data.data} grid={grid} onRange={select} />
            </div>
            <TopLists times={times} range={range} total={total} />
          </>
        )}
      </div>
    </Page>
  );
}

/** Shown instead of charts if there are requests, but none in this time. */
function Quiet(): ReactNode {
  return (
    <Card>
      <Empty icon="requests" title="No requests in this time">
        Choose a longer time above.
      </Empty>
    </Card>
  );
}
