// The list of requests as the page shows it: pages that are fetched as one scrolls, and above them what happened since.
import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { ask, type Answer, type ApiError } from '../api/client.ts';
import { queryOf, type Filters } from './filters.ts';

const PAGE = 100;

export type RequestRow = Answer<'GET /generations'>['data'][number];

interface Requests {
  readonly rows: readonly RequestRow[];
  readonly isPending: boolean;
  readonly isFetching: boolean;
  readonly hasMore: boolean;
  readonly error: ApiError | null;
  readonly more: () => void;
}

export function useRequests(filters: Filters, isLive: boolean): Requests {
  const list = useInfiniteQuery({
    queryKey: ['GET /generations', 'list', filters],
    queryFn: ({ pageParam, signal }) =>
      ask('GET /generations', {
        query: { ...queryOf(filters, Date.now()), limit: PAGE, after: pageParam ?? undefined },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => (last.has_more ? last.last_id : null),
    refetchOnWindowFocus: isLive,
  });
  const rows = useMemo(() => list.data?.pages.flatMap(({ data }) => data) ?? [], [list.data]);
  return {
    rows,
    isPending: list.isPending,
    isFetching: list.isFetching,
    hasMore: list.hasNextPage,
    error: list.error as ApiError | null,
    more: () => void (list.isFetching || list.fetchNextPage()),
  };
}
