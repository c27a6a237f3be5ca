// Queries and mutations for batches.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ask, type Answer } from './client.ts';

export type Batch = Answer<'GET /batches/{id}'>;
export type BatchFailure = Answer<'GET /batches/{id}/failures'>['data'][number];

/** Statuses of batches that have not ended, as a query parameter. */
export const OPEN_BATCHES = 'validating,in_progress,cancelling,finalizing';
/**
 * Milliseconds between two reads of a running batch. Polled, because batches of other processes send no events here.
 */
const LOOK_MS = 2_000;

/** When a batch is read again, in Unix milliseconds. `null`: it has ended. */
export function batchChangesAt({ outcome }: Pick<Batch, 'outcome'>): number | null {
  return outcome === null ? Date.now() + LOOK_MS : null;
}

/** @param done called with the batch whose cancellation was requested */
export function useBatchCancel(done: (batch: Batch) => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => ask('POST /batches/{id}/cancel', { params: { id } }),
    onSuccess: done,
    onSettled: () =>
      queries.invalidateQueries({
        predicate: ({ queryKey }) => /^GET \/(?:batches|jobs)/.test(String(queryKey[0])),
      }),
  });
}
