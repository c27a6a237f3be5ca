// Time range of a page for its queries. A range that ends now advances every minute.
import { useMemo, useSyncExternalStore } from 'react';
import { useRead } from '../api/queries.ts';
import { gridOf, spanOf, type Grid, type RangeSearch, type Span } from './range.ts';

const STEP_MS = 60_000;
const watchers = new Set<() => void>();
let minute = Math.floor(Date.now() / STEP_MS) * STEP_MS;

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  const timer = setInterval(() => {
    minute = Math.floor(Date.now() / STEP_MS) * STEP_MS;
    watcher();
  }, STEP_MS / 4);
  return () => {
    watchers.delete(watcher);
    clearInterval(timer);
  };
}

/** The gateway's time zone; UTC while loading. */
export function useZone(): string {
  return useRead('GET /about').data?.timezone ?? 'UTC';
}

interface Spanned {
  readonly span: Span;
  readonly grid: Grid;
  /** As query parameters. */
  readonly times: { readonly from: string; readonly to: string | undefined };
}

export function useSpan({ range, from, to }: RangeSearch): Spanned {
  const now = useSyncExternalStore(watch, () => minute);
  const zone = useZone();
  return useMemo(() => {
    const span = spanOf({ ...(range && { range }), ...(from && { from }), ...(to && { to }) }, now, zone);
    return {
      span,
      grid: gridOf(span, now, zone),
      times: {
        from: new Date(span.from).toISOString(),
        to: span.to === null ? undefined : new Date(span.to).toISOString(),
      },
    };
  }, [range, from, to, now, zone]);
}
