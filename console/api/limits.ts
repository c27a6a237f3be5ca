// How far limits and budgets are used, as several pages show it: they fill with requests, and clear with time.
import type { UseQueryResult } from '@tanstack/react-query';
import type { Answer, ApiError } from './client.ts';
import { useRead } from './queries.ts';

type Limits = Answer<'GET /limits'>;

export function useLimits(): UseQueryResult<Limits, ApiError> {
  return useRead('GET /limits', { query: { limit: 100 } }, { pauseMs: 2_000, changesAt: nextClears });
}

function nextClears({ data }: Limits): number | null {
  const times = data.flatMap(({ limits }) =>
    limits.flatMap(({ used, clears_at: at }) => (at === null || used === 0 ? [] : [Date.parse(at)])),
  );
  return times.length === 0 ? null : Math.min(...times);
}
