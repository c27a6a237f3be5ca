// Data of the list of requests: pages that are loaded while scrolling, and new requests from live events. New ones
// are held back while the list must not move.
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { ask, type Answer, type ApiError } from '../api/client.ts';
import { useEvents, useIsReceiving, useIsLive } from '../api/events.ts';
import { AWAY_MS, useMissed } from '../api/live.ts';
import { isPassing, REPEAT_MS } from '../api/queries.ts';
import { spanOf } from '../time/range.ts';
import { fits, orderOf, queryOf, USUAL_ORDER, type Filters } from './filters.ts';

const PAGE = 100;
/** Maximum number of new requests since the list was read. Older ones are found again further down. */
const MOST_NEW = 500;

/** Milliseconds for which events are collected into one update, because a busy gateway sends hundreds per second. */
const TOGETHER_MS = 200;

export type RequestRow = Answer<'GET /generations'>['data'][number];

interface Requests {
  readonly rows: readonly RequestRow[];
  /** Number of new requests that are held back. */
  readonly waiting: number;
  /** Shows the new requests. */
  readonly showNew: () => void;
  readonly isPending: boolean;
  /** True once the rows are those of these filters, and not of the ones before. */
  readonly isShown: boolean;
  readonly isFetching: boolean;
  readonly hasMore: boolean;
  readonly error: ApiError | null;
  readonly more: () => void;
}

/** @param isStill whether rows must not move at present */
export function useRequests(filters: Filters, zone: string, isStill: () => boolean): Requests {
  const { open: _, view: __, ...asked } = filters;
  const queryKey = ['GET /generations', 'list', asked];
  const isReceiving = useIsReceiving();
  const isLive = useIsLive();
  const list = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => {
      const { from, to } = spanOf(filters, Math.floor(Date.now() / 60_000) * 60_000, zone);
      return ask('GET /generations', {
        query: {
          ...queryOf(filters),
          ...orderOf(filters),
          from: new Date(from).toISOString(),
          to: to === null ? undefined : new Date(to).toISOString(),
          limit: PAGE,
          after: pageParam ?? undefined,
        },
        signal,
      });
    },
    initialPageParam: null as string | null,
    getNextPageParam: (last) => (last.has_more ? last.last_id : null),
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
    refetchInterval: ({ state: { error } }) =>
      isPassing(error) ? REPEAT_MS : isLive && !isReceiving && AWAY_MS,
  });
  useMissed(queryKey, () => isLive && void list.refetch());
  const question = JSON.stringify(asked);
  const [fresh, setFresh] = useState<Fresh>({ question, shown: [], waiting: [] });
  const arrived = useRef<readonly RequestRow[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const take = useEffectEvent(() => {
    timer.current = undefined;
    const rows = arrived.current.filter((row) => fits(filters, row) === true);
    arrived.current = [];
    if (rows.length === 0) return;
    const { shown, waiting } = fresh.question === question ? fresh : { shown: [], waiting: [] };
    const all = [...rows, ...waiting].slice(0, MOST_NEW);
    const mayMove = (filters.order ?? USUAL_ORDER) === USUAL_ORDER && !isStill();
    setFresh(
      mayMove
        ? { question, shown: [...all, ...shown].slice(0, MOST_NEW), waiting: [] }
        : { question, shown, waiting: all },
    );
  });
  useEvents('generation', true, (row) => {
    arrived.current = [row, ...arrived.current].slice(0, MOST_NEW);
    timer.current ??= setTimeout(() => take(), TOGETHER_MS);
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  const rows = useMemo(() => {
    const above = fresh.question === question ? fresh.shown : [];
    const known = new Set(above.map(({ id }) => id));
    const read = list.data?.pages.flatMap(({ data }) => data) ?? [];
    return [...above, ...read.filter(({ id }) => !known.has(id))];
  }, [list.data, fresh, question]);
  return {
    rows,
    waiting: fresh.question === question ? fresh.waiting.length : 0,
    showNew: () => {
      if (orderOf(filters).order_by !== 'time') void list.refetch();
      setFresh({ question, shown: [...fresh.waiting, ...fresh.shown].slice(0, MOST_NEW), waiting: [] });
    },
    isPending: list.isPending,
    isShown: !list.isPending && !list.isPlaceholderData,
    isFetching: list.isFetching,
    hasMore: list.hasNextPage,
    error: list.error as ApiError | null,
    more: () => void (list.isFetching || list.fetchNextPage()),
  };
}

interface Fresh {
  /** JSON of the filters that the rows belong to. */
  readonly question: string;
  readonly shown: readonly RequestRow[];
  readonly waiting: readonly RequestRow[];
}
