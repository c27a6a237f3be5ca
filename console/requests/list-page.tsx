// Requests page: histogram, filters, list, and a panel with the details of one request.
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, type ReactNode } from 'react';
import { useRead } from '../api/queries.ts';
import { count, counted } from '../format/numbers.ts';
import { useSpan, useZone } from '../time/use-span.ts';
import { Button, buttonClass } from '../ui/button.tsx';
import { Card, Empty, Page, Waiting } from '../ui/card.tsx';
import { useHiddenColumns } from '../ui/columns.ts';
import { Icon } from '../ui/icon.tsx';
import { Menu } from '../ui/menu.tsx';
import { cx } from '../ui/cx.ts';
import { isRepeated, Problem } from '../ui/problem.tsx';
import { REQUEST_COLUMNS } from './columns.tsx';
import { FilterLine } from './filter-line.tsx';
import { narrowing, queryOf, type Filters } from './filters.ts';
import { Histogram } from './histogram.tsx';
import { NotEnded } from './not-ended.tsx';
import { Panel } from './panel.tsx';
import { RequestRows } from './request-rows.tsx';
import { useRequests } from './use-requests.ts';

const here = getRouteApi('/requests');
/** Scroll offset in pixels below which the list counts as scrolled to its top. */
const TOP_PX = 40;

export function ListPage(): ReactNode {
  const filters = here.useSearch();
  const navigate = here.useNavigate();
  const { span, times } = useSpan(filters);
  const isPointed = useRef(false);
  const list = useRequests(
    filters,
    useZone(),
    () => isPointed.current || filters.open !== undefined || window.scrollY > TOP_PX,
  );
  // The rows come first: counts may read a whole month, and would delay them.
  const counts = useRead(
    'GET /generations/counts',
    { query: { ...queryOf(filters), ...times } },
    { pauseMs: 5_000, when: list.isShown },
  );
  const { hidden, toggle } = useHiddenColumns('requests');
  const isNarrowed =
    narrowing(filters).length > 0 || filters.text !== undefined || filters.slow !== undefined;
  const change = (changes: Partial<Filters>): void =>
    void navigate({ search: (before) => ({ ...before, ...changes }), replace: true, resetScroll: false });
  const close = (): void => {
    const { open } = filters;
    void navigate({
      search: ({ open: _, view: __, ...rest }) => rest,
      replace: true,
      resetScroll: false,
    }).then(() => document.querySelector<HTMLElement>(`[data-row="${CSS.escape(open ?? '')}"]`)?.focus());
  };
  const opened = filters.open;
  useEffect(() => {
    if (opened === undefined) return undefined;
    const pressed = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && !event.defaultPrevented) close();
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  });
  const endedIds = useMemo(() => new Set(list.rows.map(({ id }) => id)), [list.rows]);
  const total = counts.error ? undefined : counts.data?.total;
  return (
    <div className={opened === undefined ? '' : 'xl:pr-160'}>
      <Page title="Requests" overTime>
        <FilterLine
          filters={filters}
          aside={
            <>
              <span className="figures text-soft" aria-live="polite">
                {total !== undefined && list.rows.length > 0 && (
                  <>
                    Showing {count(list.rows.length)} of {counts.data?.exact === false && 'at least '}
                    {count(Math.max(total, list.rows.length))}
                  </>
                )}
              </span>
              <Menu
                label="Columns"
                entries={REQUEST_COLUMNS.slice(1).map(({ name }) => ({
                  label: name,
                  checked: !hidden.includes(name),
                  onSelect: () => toggle(name),
                }))}
              >
                <Icon name="columns" />
                <span className="sr-only">Columns</span>
              </Menu>
            </>
          }
        />
        {list.error && (
          <div className="mt-3">
            <Problem error={list.error} />
          </div>
        )}
        {counts.error && !isRepeated(counts.error, list.error) && (
          <div className="mt-3">
            <Problem error={counts.error}>
              <p>The chart and the number of requests are missing.</p>
            </Problem>
          </div>
        )}
        <Card flush className={cx('mt-3', list.error && list.rows.length === 0 && 'hidden')}>
          <div className={cx('border-b px-2 py-1', counts.error ? 'hidden' : 'min-h-22')}>
            {counts.data && counts.data.total > 0 && (
              <Histogram
                counts={counts.data}
                onRange={(from, to) =>
                  void navigate({
                    search: ({ range: _, ...rest }) => ({
                      ...rest,
                      from: new Date(from).toISOString(),
                      to: new Date(to).toISOString(),
                    }),
                  })
                }
              />
            )}
          </div>
          {list.waiting > 0 && (
            <div className="sticky top-2 z-20 flex justify-center">
              <button
                type="button"
                onClick={() => {
                  list.showNew();
                  window.scrollTo({ top: 0 });
                }}
                className="target figures absolute mt-10 rounded-full border bg-card px-3 py-1 font-medium shadow-lg hover:bg-sunk"
              >
                {count(list.waiting)} new
              </button>
            </div>
          )}
          <NotEnded filters={filters} ended={endedIds} />
          {list.isPending && <Waiting rows={14} />}
          <div
            onPointerEnter={({ pointerType }) => (isPointed.current = pointerType === 'mouse')}
            onPointerLeave={() => (isPointed.current = false)}
          >
            {list.rows.length > 0 && (
              <RequestRows
                rows={list.rows}
                hidden={hidden}
                order={filters.order}
                onOrder={(order) => change({ order })}
                open={opened}
                hasMore={list.hasMore}
                isFetching={list.isFetching}
                onMore={list.more}
              />
            )}
          </div>
          {!list.isPending && !list.error && list.rows.length === 0 && (
            <Empty
              icon="requests"
              title={
                isNarrowed ? 'No requests match these filters in this period' : 'No requests in this period'
              }
            >
              <NextStep
                label={span.label}
                isLong={filters.range === '30d' || filters.range === '90d'}
                isNarrowed={isNarrowed}
                onLonger={() =>
                  void navigate({
                    search: ({ from: _, to: __, ...rest }) => ({ ...rest, range: '30d' }),
                    replace: true,
                  })
                }
              />
            </Empty>
          )}
        </Card>
        <p className="sr-only" role="status">
          {total === undefined ? '' : counted(total, 'request')}
        </p>
      </Page>
      {opened !== undefined && (
        <Panel
          id={opened}
          view={filters.view}
          ids={list.rows.map(({ id }) => id)}
          onMove={(id) => change({ open: id })}
          onView={(view) => change({ view })}
          onClose={close}
        />
      )}
    </div>
  );
}

interface NextStepProps {
  /** Label of the time range. */
  readonly label: string;
  /** True: the range already covers 30 days. */
  readonly isLong: boolean;
  readonly isNarrowed: boolean;
  readonly onLonger: () => void;
}

/** Suggestion for an empty list: a longer time range, or else a first request. */
function NextStep({ label, isLong, isNarrowed, onLonger }: NextStepProps): ReactNode {
  return (
    <>
      <p className="mb-3">{label}.</p>
      {!isLong && <Button onClick={onLonger}>Show 30 days</Button>}
      {isLong && !isNarrowed && (
        <Link to="/playground" className={buttonClass('plain')}>
          Try the playground
        </Link>
      )}
    </>
  );
}
