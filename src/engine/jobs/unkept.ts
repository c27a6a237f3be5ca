// Answers that are complete and could not be stored. They are paid for, so that none is made again: a disk that is full is tried again,
// and where their project has no room they stay with their job until it has.
import type { StoredResponse } from '../../accounts/ports/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import type { WorkDependencies } from './job-call.ts';
import type { JobOutcome, JobRun } from './job-runner.ts';
import type { DurationMs } from '../../base/units.ts';

/** Step that holds such an answer. */
const UNKEPT_STEP = 'unkept';
/** How soon it is looked again whether there is room, in milliseconds: at first, and in the end. */
const LEAST_AGAIN_MS = 1_000;
const MOST_AGAIN_MS = 30_000;

export interface Unkept {
  readonly response: StoredResponse;
  /** Conversation to which it belongs; absent: none. */
  readonly appendTo?: string | undefined;
}

/** Answer that an earlier run of the job has left; null: none. */
export async function unkeptOf({ job, store }: JobRun): Promise<Unkept | null> {
  // A try that left one has waited.
  if (job.waits === null) return null;
  const step = (await store.steps(job.id)).find(({ name }) => name === UNKEPT_STEP);
  return step ? (JSON.parse(step.detail) as Unkept) : null;
}

/** Stores such an answer, or has its job wait. */
export async function keepUnkept(
  run: JobRun,
  unkept: Unkept,
  { storage, settings, clock }: Pick<WorkDependencies, 'storage' | 'settings' | 'clock'>,
): Promise<JobOutcome> {
  const { job, store } = run;
  try {
    await run.written(() => storage.responses.put(unkept.response, unkept.appendTo));
    return { end: { state: 'completed' } };
  } catch (error) {
    const { kind, code, message: reason } = GatewayError.from(error);
    if (kind !== 'quota') throw error;
    const isNew = job.waits?.reason !== reason;
    const waitedMs = isNew || !job.waits ? 0 : clock.wall() - job.waits.sinceMs;
    if (waitedMs >= settings().maxWaitMs)
      return { end: { state: 'failed', error: { code: code ?? kind, message: reason } } };
    const step = { name: UNKEPT_STEP, detail: JSON.stringify(unkept) };
    await run.written(() => store.step(job.id, job.fence, step));
    return { wait: { reason, forMs: againAfter(waitedMs), hasBegun: false, isNew } };
  }
}

/** When a write is tried again that found no room. @param waitedMs so far */
export function againAfter(waitedMs: DurationMs): DurationMs {
  return Math.min(MOST_AGAIN_MS, Math.max(LEAST_AGAIN_MS, waitedMs / 2));
}
