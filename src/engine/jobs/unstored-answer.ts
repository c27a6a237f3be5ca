// Complete answers that could not be stored. They are paid for, so they are not made again: writing is retried while
// the disk is full, and while the project's storage limit is exceeded they stay with the job.
import type { JobStep, StoredResponse } from '../../accounts/ports/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import type { WorkDependencies } from './job-call.ts';
import type { JobOutcome, JobRun } from './job-runner.ts';
import { isNewReason } from './wait-reason.ts';
import type { DurationMs } from '../../base/units.ts';

/** Step that stores such an answer. */
const UNSTORED_STEP = 'unkept';
/** First and longest interval between tries to store it, in milliseconds. */
const LEAST_RETRY_MS = 1_000;
const MOST_RETRY_MS = 30_000;

export interface UnstoredAnswer {
  readonly response: StoredResponse;
  /** Conversation that it belongs to. Absent: none. */
  readonly appendTo?: string | undefined;
}

/** Answer left by an earlier try of the job. Null: none. @param steps of these tries */
export function findUnstored({ job }: JobRun, steps: readonly JobStep[]): UnstoredAnswer | null {
  // A try that left an answer also recorded a wait.
  if (job.waits === null) return null;
  const step = steps.find(({ name }) => name === UNSTORED_STEP);
  return step ? (JSON.parse(step.detail) as UnstoredAnswer) : null;
}

/** Stores such an answer, or makes its job wait. */
export async function storeAgain(
  run: JobRun,
  unstored: UnstoredAnswer,
  { storage, settings, clock }: Pick<WorkDependencies, 'storage' | 'settings' | 'clock'>,
): Promise<JobOutcome> {
  const { job, store } = run;
  const { responses } = storage;
  try {
    await run.stored(() => responses.put(unstored.response, { appendTo: unstored.appendTo, isByJob: true }));
    return { end: { state: 'completed' } };
  } catch (error) {
    const { kind, code, message: reason } = GatewayError.from(error);
    if (kind !== 'quota') throw error;
    const isNew = isNewReason(job, reason);
    const waitedMs = isNew || !job.waits ? 0 : clock.wall() - job.waits.sinceMs;
    if (waitedMs >= settings().maxWaitMs)
      return { end: { state: 'failed', error: { code: code ?? kind, message: reason } } };
    const step = { name: UNSTORED_STEP, detail: JSON.stringify(unstored) };
    await run.stored(() => store.step(job.id, job.fence, step));
    return { wait: { reason, forMs: storeRetryMs(waitedMs), hasBegun: false, isNew } };
  }
}

/** Milliseconds until the next try to store it. @param waitedMs so far */
export function storeRetryMs(waitedMs: DurationMs): DurationMs {
  return Math.min(MOST_RETRY_MS, Math.max(LEAST_RETRY_MS, waitedMs / 2));
}
