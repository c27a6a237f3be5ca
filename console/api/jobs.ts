// Queries and mutations for jobs: requests that run without a client connection.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ask, type Answer } from './client.ts';

export type Job = Answer<'GET /jobs'>['data'][number];

/** States of jobs that have not ended, as a query parameter. */
export const OPEN_JOBS = 'queued,waiting,running';
/** Milliseconds between two reads. Polled, because jobs of other processes send no events here. */
const LOOK_MS = 5_000;

/** When a list of jobs is read again, in Unix milliseconds. `null`: all of its jobs have ended. */
export function jobsChangeAt({ data }: { readonly data: readonly Pick<Job, 'ended_at'>[] }): number | null {
  return data.some(({ ended_at: end }) => end === null) ? Date.now() + LOOK_MS : null;
}

export type JobChange = 'cancel' | 'retry';

/** @param done called with the changed job */
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
