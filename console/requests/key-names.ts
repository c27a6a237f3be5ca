// What keys are called: records know them by their ids.
import { useMemo } from 'react';
import { useRead } from '../api/queries.ts';

/** Names by id, of the first hundred: a key without a project is a project of its own, under its id. */
export function useKeyNames(): ReadonlyMap<string, string> {
  const { data } = useRead('GET /keys', { query: { limit: 100 } });
  return useMemo(() => new Map(data?.data.map(({ id, name }) => [id, name])), [data]);
}
