// How pages read: an operation of the management API as a query, under its name and what is asked.
import { keepPreviousData, queryOptions, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { type ApiError, ask, type Answer, type Asked, type Name, readSession } from './client.ts';

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
