// Batches: what is read of them, and how one is cancelled.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ask, type Answer } from './client.ts';

export type Batch = Answer<'GET /batches/{id}'>;
export type BatchFailure = Answer<'GET /batches/{id}/failures'>['data'][number];

/** Statuses from which a batch goes on, as the gateway's queries name them. */
export const OPEN_BATCHES = 'validating,in_progress,cancelling,finalizing';
/** Pause between two readings of a batch that runs, in milliseconds: other processes may run it, which say nothing here. */
const LOOK_MS = 2_000;

/** When a batch is read again. Unix milliseconds; null: it has ended. */
export function batchChangesAt({ outcome }: Pick<Batch, 'outcome'>): number | null {
  return outcome === null ? Date.now() + LOOK_MS : null;
}

/** @param done called with the batch whose end was asked for */
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
