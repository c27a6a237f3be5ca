// The list of requests as the page shows it: pages that are fetched as one scrolls, and above them what happened since.
import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { ask, type Answer, type ApiError } from '../api/client.ts';
import { useEvents, useIsHeard } from '../api/events.ts';
import { AWAY_MS, useMissed } from '../api/live.ts';
import { fits, queryOf, type Filters } from './filters.ts';

const PAGE = 100;
/** What came since the list was read; beyond, the oldest are found again further down. */
const MOST_NEW = 500;

/** What comes in this time is drawn at once: a busy gateway tells hundreds a second. */
const TOGETHER_MS = 100;

export type RequestRow = Answer<'GET /generations'>['data'][number];

interface Requests {
  readonly rows: readonly RequestRow[];
  /** Whether new ones come by themselves. */
  readonly isHeard: boolean;
  readonly isPending: boolean;
  readonly isFetching: boolean;
  readonly hasMore: boolean;
  readonly error: ApiError | null;
  readonly more: () => void;
}

export function useRequests(filters: Filters, isLive: boolean): Requests {
  const queryKey = ['GET /generations', 'list', filters];
  const isHeard = useIsHeard();
  const list = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      ask('GET /generations', {
        query: { ...queryOf(filters, Date.now()), limit: PAGE, after: pageParam ?? undefined },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => (last.has_more ? last.last_id : null),
    refetchOnWindowFocus: isLive,
    refetchInterval: isLive && !isHeard && AWAY_MS,
  });
  useMissed(queryKey, () => isLive && void list.refetch());
  const question = JSON.stringify(filters);
  const [fresh, setFresh] = useState<{ question: string; rows: readonly RequestRow[] }>({
    question,
    rows: [],
  });
  const waiting = useRef<readonly RequestRow[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const show = useEffectEvent(() => {
    timer.current = undefined;
    const rows = waiting.current.filter((row) => fits(filters, row));
    waiting.current = [];
    if (rows.length === 0) return;
    const before = fresh.question === question ? fresh.rows : [];
    setFresh({ question, rows: [...rows, ...before].slice(0, MOST_NEW) });
  });
  useEvents('generation', isLive, (row) => {
    waiting.current = [row, ...waiting.current].slice(0, MOST_NEW);
    timer.current ??= setTimeout(() => show(), TOGETHER_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  const rows = useMemo(() => {
    const above = fresh.question === question ? fresh.rows : [];
    const known = new Set(above.map(({ id }) => id));
    const read = list.data?.pages.flatMap(({ data }) => data) ?? [];
    return [...above, ...read.filter(({ id }) => !known.has(id))];
  }, [list.data, fresh, question]);
  return {
    rows,
    isHeard,
    isPending: list.isPending,
    isFetching: list.isFetching,
    hasMore: list.hasNextPage,
    error: list.error as ApiError | null,
    more: () => void (list.isFetching || list.fetchNextPage()),
  };
}
