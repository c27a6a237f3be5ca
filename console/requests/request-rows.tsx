// Virtualized rows of requests. Each is a link. Arrow keys, or j and k, move between rows.
import { Link } from '@tanstack/react-router';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { duration } from '../format/numbers.ts';
import { shortTime } from '../format/times.ts';
import { cx } from '../ui/cx.ts';
import { Icon } from '../ui/icon.tsx';
import { nextOrder, readOrder } from '../ui/order.ts';
import { useRoving } from '../ui/roving.ts';
import { RequestStatus } from '../ui/status.tsx';
import { REQUEST_COLUMNS, type RequestColumn } from './columns.tsx';
import { USUAL_ORDER } from './filters.ts';
import type { RequestRow } from './use-requests.ts';

const ROW_PX = 36;
const TALL_ROW_PX = 60;
/** Minimum widths in pixels: of one-line rows, and of the list for a column to be shown. */
const NARROW_PX = 720;
const ROOM: Readonly<Record<string, number>> = { 'First token': 1_110, Tokens: 1_010, Key: 890, Cost: 800 };

interface RequestRowsProps {
  readonly rows: readonly RequestRow[];
  readonly hidden: readonly string[];
  readonly order: string | undefined;
  readonly onOrder: (order: string) => void;
  /** Id of the request that is open in the panel. */
  readonly open: string | undefined;
  readonly hasMore: boolean;
  readonly isFetching: boolean;
  readonly onMore: () => void;
}

export function RequestRows(props: RequestRowsProps): ReactNode {
  const { rows, hidden, open, hasMore, isFetching, onMore } = props;
  const place = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [width, setWidth] = useState(() => innerWidth);
  const isNarrow = width < NARROW_PX;
  useLayoutEffect(
    () => setTop((place.current?.getBoundingClientRect().top ?? 0) + window.scrollY),
    [rows.length],
  );
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => (isNarrow ? TALL_ROW_PX : ROW_PX),
    overscan: 8,
    scrollMargin: top,
    getItemKey: (at) => rows[at]?.id ?? at,
  });
  useLayoutEffect(() => {
    const { current: element } = place;
    if (!element) return undefined;
    setWidth(element.clientWidth);
    const sized = new ResizeObserver(() => setWidth(element.clientWidth));
    sized.observe(element);
    return () => sized.disconnect();
  }, []);
  useEffect(() => virtual.measure(), [virtual, isNarrow]);
  const seen = virtual.getVirtualItems();
  const last = seen.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && !isFetching && last >= rows.length - 20) onMore();
  }, [hasMore, isFetching, last, rows.length, onMore]);
  const columns = REQUEST_COLUMNS.filter(({ name }) => !hidden.includes(name) && width >= (ROOM[name] ?? 0));
  const grid = columns.map(({ width }) => width).join(' ');
  const longest = Math.max(...seen.map(({ index }) => rows[index]?.duration_ms ?? 0));
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }[event.key];
    const from =
      Number((event.target as HTMLElement).closest('[aria-rowindex]')?.getAttribute('aria-rowindex')) - 1;
    if (step === undefined || from < 0 || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const to = Math.max(0, Math.min(rows.length - 1, from + step));
    virtual.scrollToIndex(to, { align: 'auto' });
    const focus = (): void =>
      place.current?.querySelector<HTMLElement>(`[aria-rowindex="${to + 1}"] [data-row]`)?.focus();
    focus();
    requestAnimationFrame(focus);
  };
  return (
    <div role="table" aria-label="Requests" aria-rowcount={hasMore ? -1 : rows.length} className="text-sm">
      {!isNarrow && <Heads {...props} columns={columns} grid={grid} />}
      <div
        ref={place}
        role="rowgroup"
        className="relative"
        style={{ height: virtual.getTotalSize() }}
        onKeyDown={move}
      >
        {seen.map(({ index, key, start, size }) => {
          const row = rows[index];
          return (
            row && (
              <div
                key={key}
                role="row"
                aria-rowindex={index + 1}
                aria-current={row.id === open || undefined}
                className="absolute inset-x-0 top-0 border-b hover:bg-sunk aria-[current=true]:bg-sunk"
                style={{ transform: `translateY(${start - top}px)`, height: size }}
              >
                {isNarrow ? (
                  <Narrow row={row} />
                ) : (
                  <Wide row={row} columns={columns} grid={grid} longest={longest} />
                )}
              </div>
            )
          );
        })}
      </div>
      {isFetching && hasMore && <p className="px-4 py-3 text-faint">Loading more…</p>}
    </div>
  );
}

interface HeadsProps extends Pick<RequestRowsProps, 'order' | 'onOrder'> {
  readonly columns: readonly RequestColumn[];
  readonly grid: string;
}

function Heads({ columns, grid, order = USUAL_ORDER, onOrder }: HeadsProps): ReactNode {
  const { ref, onKeyDown } = useRoving<HTMLDivElement>();
  const { by, isDescending } = readOrder(order);
  return (
    <div role="rowgroup" className="sticky top-0 z-10 bg-card">
      <div
        role="row"
        ref={ref}
        onKeyDown={onKeyDown}
        className="grid h-9 items-center gap-x-3 border-b px-4 text-xs font-medium text-faint"
        style={{ gridTemplateColumns: grid }}
      >
        {columns.map(({ name, order: id, number }) => (
          <span
            key={name}
            role="columnheader"
            aria-sort={id === by ? (isDescending ? 'descending' : 'ascending') : undefined}
            className={cx(number === true && 'text-right')}
          >
            {id === undefined ? (
              name
            ) : (
              <button
                type="button"
                className={cx(
                  'inline-flex min-h-6 items-center gap-1 rounded hover:text-ink',
                  number === true && 'flex-row-reverse',
                )}
                onClick={() => onOrder(nextOrder(order, id, true))}
              >
                {name}
                {id === by && <Icon name={isDescending ? 'low' : 'up'} size={12} />}
              </button>
            )}
          </span>
        ))}
      </div>
    </div>
  );
}

interface WideProps {
  readonly row: RequestRow;
  readonly columns: readonly RequestColumn[];
  readonly grid: string;
  readonly longest: number;
}

function Wide({ row, columns, grid, longest }: WideProps): ReactNode {
  return (
    <div className="grid h-full items-center gap-x-3 px-4" style={{ gridTemplateColumns: grid }}>
      {columns.map(({ name, number, cell }, at) => (
        <span key={name} role="cell" className={cx('min-w-0', number === true && 'figures text-right')}>
          {at === 0 ? <RowLink row={row}>{cell(row, longest)}</RowLink> : cell(row, longest)}
        </span>
      ))}
    </div>
  );
}

/** Row in two lines, for phones. */
function Narrow({ row }: { readonly row: RequestRow }): ReactNode {
  return (
    <div className="grid h-full grid-cols-[minmax(0,1fr)_auto] content-center gap-x-3 gap-y-0.5 px-4">
      <span role="cell" className="truncate font-medium">
        <RowLink row={row}>{row.model ?? row.requested_model}</RowLink>
      </span>
      <span role="cell" className="text-right">
        <RequestStatus state={row.state} status={row.status} />
      </span>
      <span role="cell" className="truncate text-soft">
        {shortTime(row.created_at)} · {row.key_name ?? row.key_id}
      </span>
      <span role="cell" className="figures text-right text-soft">
        {row.duration_ms === null ? '' : duration(row.duration_ms)}
      </span>
    </div>
  );
}

function RowLink({ row, children }: { readonly row: RequestRow; readonly children: ReactNode }): ReactNode {
  return (
    <Link
      to="/requests"
      search={(before) => ({ ...before, open: row.id })}
      resetScroll={false}
      data-row={row.id}
      className="row-link"
    >
      {children}
    </Link>
  );
}
