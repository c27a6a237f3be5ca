// Rows of requests, of which only those are made that are seen.
import { Link } from '@tanstack/react-router';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { useKeyNames } from '../api/key-names.ts';
import { count, duration, short, usd } from '../format/numbers.ts';
import { fullTime, shortTime } from '../format/times.ts';
import { StatusBadge } from '../ui/badge.tsx';
import type { RequestRow } from './use-requests.ts';

const WIDE = 'hidden lg:block';
/** Columns where there is room; on a phone a row has two lines. */
const GRID =
  'grid grid-cols-[1fr_auto] gap-x-3 gap-y-0.5 px-4 lg:grid-cols-[7.25rem_3.75rem_minmax(0,1.6fr)_minmax(0,0.9fr)_minmax(0,1.2fr)_4.25rem_3.5rem_5.25rem_4.25rem_4.5rem] lg:items-center';
const ROW_PX = 41;
const TALL_ROW_PX = 61;
const narrow = matchMedia('(width < 64rem)');

interface RequestRowsProps {
  readonly rows: readonly RequestRow[];
  readonly hasMore: boolean;
  readonly isFetching: boolean;
  readonly onMore: () => void;
}

export function RequestRows({ rows, hasMore, isFetching, onMore }: RequestRowsProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(
    () => setTop((place.current?.getBoundingClientRect().top ?? 0) + window.scrollY),
    [rows.length],
  );
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => (narrow.matches ? TALL_ROW_PX : ROW_PX),
    overscan: 6,
    scrollMargin: top,
    getItemKey: (at) => rows[at]?.id ?? at,
  });
  useEffect(() => {
    const resized = (): void => virtual.measure();
    narrow.addEventListener('change', resized);
    return () => narrow.removeEventListener('change', resized);
  }, [virtual]);
  const seen = virtual.getVirtualItems();
  const last = seen.at(-1)?.index ?? 0;
  // A key without a project is a project of its own, under its id.
  const names = useKeyNames(
    seen.map(({ index }) => (rows[index]?.project_id === rows[index]?.key_id ? rows[index]?.key_id : null)),
  );
  useEffect(() => {
    if (hasMore && !isFetching && last >= rows.length - 20) onMore();
  }, [hasMore, isFetching, last, rows.length, onMore]);
  return (
    <div role="table" aria-label="Requests" aria-rowcount={hasMore ? -1 : rows.length} className="text-sm">
      <div role="rowgroup" className="hidden lg:block">
        <div role="row" className={`${GRID} border-b py-2 font-medium text-faint`}>
          {['Time', 'Status', 'Model', 'Provider', 'Whose'].map((name) => (
            <span key={name} role="columnheader">
              {name}
            </span>
          ))}
          {['Tokens in', 'out', 'Cost', 'First', 'Whole'].map((name) => (
            <span key={name} role="columnheader" className="text-right">
              {name}
            </span>
          ))}
        </div>
      </div>
      <div ref={place} role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
        {seen.map(({ index, key, start, size }) => {
          const row = rows[index];
          return (
            row && (
              <div
                key={key}
                role="row"
                aria-rowindex={index + 1}
                className={`${GRID} absolute inset-x-0 top-0 content-center border-b hover:bg-sunk`}
                style={{ transform: `translateY(${start - top}px)`, height: size }}
              >
                <Row row={row} owner={names.get(row.project_id) ?? row.project_id} />
              </div>
            )
          );
        })}
      </div>
      {isFetching && hasMore && <p className="px-4 py-3 text-faint">Loading more…</p>}
    </div>
  );
}

function Row({ row, owner }: { readonly row: RequestRow; readonly owner: string }): ReactNode {
  const { native_tokens: tokens, latency, generation_time: rest } = row;
  const whole = latency === null || rest === null ? null : latency + rest;
  const number = 'figures text-right';
  return (
    <>
      <span role="cell" className="figures order-3 text-soft lg:order-none" title={fullTime(row.created_at)}>
        {shortTime(row.created_at)}
      </span>
      <span role="cell" className="order-2 text-right lg:order-none lg:text-left">
        <StatusBadge status={row.status} cancelled={row.cancelled} />
      </span>
      <span role="cell" className="order-1 truncate font-medium lg:order-none" title={row.requested_model}>
        {/* The whole row leads to the request. */}
        <Link to="/requests/$id" params={{ id: row.id }} className="after:absolute after:inset-0">
          {row.model ?? row.requested_model}
        </Link>
      </span>
      <span role="cell" className={`${WIDE} truncate text-soft`}>
        {row.provider ?? '–'}
      </span>
      <span role="cell" className={`${WIDE} truncate text-soft`}>
        {owner}
      </span>
      <span role="cell" className={`${WIDE} ${number}`} title={count(tokens?.prompt_tokens)}>
        {short(tokens?.prompt_tokens)}
      </span>
      <span role="cell" className={`${WIDE} ${number}`} title={count(tokens?.completion_tokens)}>
        {short(tokens?.completion_tokens)}
      </span>
      <span role="cell" className={`${number} order-4 lg:order-none`}>
        {usd(row.cost?.usd)}
      </span>
      <span role="cell" className={`${WIDE} ${number}`}>
        {duration(latency)}
      </span>
      <span role="cell" className={`${WIDE} ${number}`}>
        {duration(whole)}
      </span>
    </>
  );
}
