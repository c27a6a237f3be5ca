// How pages read: an operation of the management API as a query, under its name and what is asked.
import {
  keepPreviousData,
  queryOptions,
  useInfiniteQuery,
  useQuery,
  type UseQueryResult,
} from '@tanstack/react-query';
import { type ApiError, ask, type Answer, type Asked, type Name, type Query, readSession } from './client.ts';

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => readSession(signal),
  staleTime: 60_000,
  retry: false,
});

interface Reading {
  /** Milliseconds after which it is read again while the page is seen. */
  readonly every?: number;
  /** False: nothing is asked. */
  readonly when?: boolean;
}

/** Reads an operation; what was read before is shown until the new answer is there. */
export function useRead<N extends Name>(
  name: N,
  asked: Omit<Asked<N>, 'signal'> = {},
  { every, when = true }: Reading = {},
): UseQueryResult<Answer<N>, ApiError> {
  return useQuery<Answer<N>, ApiError>({
    queryKey: [name, asked.params ?? {}, asked.query ?? {}],
    queryFn: ({ signal }) => ask(name, { ...asked, signal }),
    placeholderData: keepPreviousData,
    enabled: when,
    ...(every === undefined ? {} : { refetchInterval: every }),
  });
}

interface Page {
  readonly data: readonly unknown[];
  readonly last_id: string | null;
  readonly has_more: boolean;
}

/** Operations that answer with a part of a list. */
type ListName = {
  [N in Name]: Answer<N> extends Page ? ('after' extends keyof Query<N> ? N : never) : never;
}[Name];

/** Entries that are read at once. */
const PAGE = 100;

interface List<Entry> {
  /** Undefined until the first of them are there. */
  readonly rows: readonly Entry[] | undefined;
  readonly error: ApiError | null;
  readonly hasMore: boolean;
  readonly isFetching: boolean;
  /** Reads those that follow. */
  readonly more: () => void;
}

/** Reads a list: its first entries, and more of them when they are wanted. */
export function useList<N extends ListName>(
  name: N,
  query: Omit<Query<N>, 'after' | 'limit'>,
): List<Answer<N>['data'][number]> {
  const list = useInfiniteQuery({
    queryKey: [name, 'list', query],
    queryFn: ({ pageParam, signal }) =>
      ask(name, { query: { ...query, limit: PAGE, after: pageParam ?? undefined } as Query<N>, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (last: Answer<N>) => (last.has_more ? last.last_id : null),
    placeholderData: keepPreviousData,
  });
  return {
    rows: list.data?.pages.flatMap(({ data }): readonly Answer<N>['data'][number][] => data),
    error: list.error as ApiError | null,
    hasMore: list.hasNextPage,
    isFetching: list.isFetching,
    more: () => void (list.isFetching || list.fetchNextPage()),
  };
}
