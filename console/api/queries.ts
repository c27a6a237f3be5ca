// React Query hooks for operations of the management API.
import {
  keepPreviousData,
  queryOptions,
  useInfiniteQuery,
  useQuery,
  type UseQueryResult,
} from '@tanstack/react-query';
import { ApiError, ask, type Answer, type Asked, type Name, type Query, readSession } from './client.ts';
import { useIsReceiving, useIsLive } from './events.ts';
import { AWAY_MS, useReadAgain } from './live.ts';

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => readSession(signal),
  staleTime: 60_000,
  retry: false,
});

interface Reading<A> {
  /** Minimum milliseconds between two reads after change events; undefined: change events are ignored. */
  readonly pauseMs?: number;
  /** When the response changes by itself, in Unix milliseconds; null: it does not. */
  readonly changesAt?: (answer: A) => number | null;
  /** False: the query is disabled. */
  readonly when?: boolean;
}

/** Milliseconds until a read is repeated that failed although the request was right. */
export const REPEAT_MS = 10_000;

/** True: the gateway was unreachable or broken, which may be over soon. */
export function isPassing(error: Error | null): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500);
}

/** Bounds of the delay until a response that changes by itself is read again, in milliseconds. */
const SOONEST_MS = 1_000;
const LATEST_MS = 3_600_000;

/** Reads an operation. The previous response is shown until the new one has arrived. */
export function useRead<N extends Name>(
  name: N,
  asked: Omit<Asked<N>, 'signal'> = {},
  { pauseMs, changesAt, when = true }: Reading<Answer<N>> = {},
): UseQueryResult<Answer<N>, ApiError> {
  const queryKey = [name, asked.params ?? {}, asked.query ?? {}];
  const isReceiving = useIsReceiving();
  const isLive = useIsLive();
  const away = pauseMs === undefined || isReceiving || !isLive ? Infinity : AWAY_MS;
  const query = useQuery<Answer<N>, ApiError>({
    queryKey,
    queryFn: ({ signal }) => ask(name, { ...asked, signal }),
    placeholderData: keepPreviousData,
    enabled: when,
    refetchInterval: ({ state: { data, error } }) => {
      if (isPassing(error)) return REPEAT_MS;
      const at = (data && changesAt?.(data)) ?? Infinity;
      const own = Math.max(SOONEST_MS, at - Date.now());
      const next = Math.min(away, own < Infinity ? Math.min(own, LATEST_MS) : Infinity);
      return next < Infinity && next;
    },
  });
  useReadAgain(queryKey, when ? pauseMs : undefined);
  return query;
}

interface Page {
  readonly data: readonly unknown[];
  readonly last_id: string | null;
  readonly has_more: boolean;
}

/** Operations that return a page of a list. */
type ListName = {
  [N in Name]: Answer<N> extends Page ? ('after' extends keyof Query<N> ? N : never) : never;
}[Name];

/** Entries per page. */
const PAGE = 100;

interface List<Entry> {
  /** Undefined until the first page has arrived. */
  readonly rows: readonly Entry[] | undefined;
  readonly error: ApiError | null;
  readonly hasMore: boolean;
  readonly isFetching: boolean;
  /** Reads the next page. */
  readonly more: () => void;
}

/**
 * Reads a list page by page.
 * @param pauseMs as in `Reading`
 */
export function useList<N extends ListName>(
  name: N,
  query: Omit<Query<N>, 'after' | 'limit'>,
  { pauseMs, params }: Pick<Reading<Answer<N>>, 'pauseMs'> & { readonly params?: Asked<N>['params'] } = {},
): List<Answer<N>['data'][number]> {
  const queryKey = [name, 'list', params ?? {}, query];
  const isReceiving = useIsReceiving();
  const isLive = useIsLive();
  const list = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) =>
      ask(name, {
        ...(params && { params }),
        query: { ...query, limit: PAGE, after: pageParam ?? undefined } as Query<N>,
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last: Answer<N>) => (last.has_more ? last.last_id : null),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { error } }) => {
      if (isPassing(error)) return REPEAT_MS;
      return pauseMs === undefined || isReceiving || !isLive ? false : AWAY_MS;
    },
  });
  useReadAgain(queryKey, pauseMs);
  return {
    rows: list.data?.pages.flatMap(({ data }): readonly Answer<N>['data'][number][] => data),
    error: list.error as ApiError | null,
    hasMore: list.hasNextPage,
    isFetching: list.isFetching,
    more: () => void (list.isFetching || list.fetchNextPage()),
  };
}
