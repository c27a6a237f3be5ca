// Jobs: what runs without a connection, and how one is ended or tried again.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ask, type Answer } from './client.ts';

export type Job = Answer<'GET /jobs'>['data'][number];

/** States from which a job goes on, as the gateway's queries name them. */
export const OPEN_JOBS = 'queued,waiting,running';
/** Other processes' jobs are looked at so often: they say nothing here. */
const LOOK_MS = 5_000;

/** When a list with jobs that go on is read again. Unix milliseconds; null: nothing in it goes on. */
export function jobsChangeAt({ data }: { readonly data: readonly Pick<Job, 'ended_at'>[] }): number | null {
  return data.some(({ ended_at: end }) => end === null) ? Date.now() + LOOK_MS : null;
}

export type JobChange = 'cancel' | 'retry';

/** @param done called with a job that was changed */
export function useJobChange(done: (job: Job, change: JobChange) => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async ({ id, change }: { readonly id: string; readonly change: JobChange }) => ({
      job: await (change === 'cancel'
        ? ask('POST /jobs/{id}/cancel', { params: { id } })
        : ask('POST /jobs/{id}/retry', { params: { id } })),
      change,
    }),
    onSuccess: ({ job, change }) => done(job, change),
    onSettled: () =>
      queries.invalidateQueries({ predicate: ({ queryKey }) => String(queryKey[0]).startsWith('GET /jobs') }),
  });
}
