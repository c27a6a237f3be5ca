// How a job runs a request: connects it to the job, waits for capacity, and handles interrupted tries.
import type { Principal } from '../../accounts/auth/index.ts';
import type { JobStep, Storage } from '../../accounts/ports/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import type { ApiCall, ByteAccount, JobCall } from '../call.ts';
import type { KeptStreams } from '../streams/index.ts';
import { ASKED_STEP, settleInterrupted, TryMark } from './interrupted.ts';
import type { JobRun } from './job-runner.ts';
import { recordIdOf, type ResponsePayload } from './response-job.ts';
import type { UnstoredAnswer } from './unstored-answer.ts';
import type { DurationMs } from '../../base/units.ts';

/** Processes that may die with one job: a request that ends its process must not end all of them. */
const MOST_DEATHS = 10;
/** Shortest and longest wait for capacity, and the default when no wait is known, in milliseconds. */
const LEAST_WAIT_MS = 200;
const MOST_WAIT_MS = 60_000;
const USUAL_WAIT_MS = 5_000;
/** Prefix of steps for tools with side effects. */
const TOOL_STEP = 'tool:';

export interface WorkDependencies {
  /** Runs a request. */
  readonly serve: (call: ApiCall) => Promise<unknown>;
  readonly streams: KeptStreams;
  readonly storage: Pick<Storage, 'responses' | 'ledger' | 'jobs' | 'marks' | 'interruptedTries'>;
  /** Throws GatewayError for a key that is no longer valid. */
  readonly keyById: (keyId: string) => Principal;
  /** Memory account of a request while it runs. */
  readonly account: (keyId: string) => ByteAccount & { release(): void };
  readonly settings: () => { readonly totalMs: DurationMs; readonly maxWaitMs: DurationMs };
  /** False once the process is shutting down. */
  readonly takes: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Failure of a request, so far. */
export interface Tried {
  failure?: GatewayError;
  /** False: no upstream request was made. */
  wasAsked?: boolean;
  /** Milliseconds until the next try. */
  wait?: number;
  /** The complete answer, if it could not be stored. */
  notStored?: UnstoredAnswer;
}

/** The client of the request. */
interface JobClient {
  /** True once there was any content. */
  readonly hasContent: boolean;
  /** True: the failure is not reported, because the job is tried again. */
  isMuted: boolean;
}

/** Steps of a job's earlier tries. */
export async function earlierSteps({ job, store, stored }: JobRun): Promise<readonly JobStep[]> {
  const isFirst = job.attempt <= 1 && job.waits === null;
  return isFirst ? [] : stored(() => store.steps(job.id));
}

/** Reason why a job is not tried again. Undefined: it is. @param steps of earlier tries */
export async function refusalOf(
  run: JobRun,
  id: string,
  steps: readonly JobStep[],
  deps: Pick<WorkDependencies, 'storage'>,
): Promise<GatewayError | undefined> {
  const { job } = run;
  if (job.attempt <= 1) return undefined;
  await settleEarlier(run, id, steps, deps);
  const tool = steps.find(({ name }) => name.startsWith(TOOL_STEP));
  if (tool)
    return new GatewayError(
      'upstream_unavailable',
      `The gateway stopped during this response, after the tool '${tool.detail}' had started. The tool is not run again, because it may have had side effects. Send a new request.`,
      { fault: 'gateway' },
    );
  if (job.deaths < MOST_DEATHS) return undefined;
  return new GatewayError('internal', `The gateway stopped ${job.deaths} times during this response.`);
}

/** Records the usage of interrupted earlier tries. @param steps of these tries */
export function settleEarlier(
  { job, store, stored }: JobRun,
  id: string,
  steps: readonly JobStep[],
  { storage }: Pick<WorkDependencies, 'storage'>,
): Promise<void> {
  return stored(() => settleInterrupted({ job, store }, id, steps, storage));
}

/** Job part of a request's call. @param payload identifies the answer @param tried receives the failure */
export function jobCall(
  { job, store }: JobRun,
  payload: Pick<ResponsePayload, 'id' | 'createdAt'>,
  { storage, settings, clock, log }: WorkDependencies,
  client: JobClient,
  tried: Tried,
): JobCall {
  const { id, fence } = job;
  const mark = new TryMark(storage.marks, job);
  return {
    id: payload.id,
    recordId: recordIdOf(payload.id, job.attempt),
    createdAt: payload.createdAt,
    expiresAt: job.expiresAt,
    totalMs: settings().totalMs,
    failed(failure, wasAsked) {
      tried.failure = failure;
      tried.wasAsked = wasAsked;
      const waitedMs = job.waits ? clock.wall() - job.waits.sinceMs : 0;
      const mayWait = waitedMs < settings().maxWaitMs;
      const wait = client.hasContent || !mayWait ? undefined : waitFor(failure, waitedMs);
      if (wait !== undefined) tried.wait = wait;
      client.isMuted = wait !== undefined;
      // No upstream request was made, so nothing is recorded.
      if (client.isMuted && !wasAsked) mark.close();
      return wait !== undefined;
    },
    isKept: true,
    providerShare: 1,
    sent: () => mark.sent(),
    notStored(response, appendTo) {
      tried.notStored = { response, appendTo };
    },
    recorded: () => mark.close(),
    async asked(record, price) {
      const detail = JSON.stringify(mark.asked(record, price));
      const step = { name: `${ASKED_STEP}${job.attempt}`, detail };
      await store
        .step(id, fence, step)
        .catch((error: unknown) => log.warn('a step of a job could not be stored', { id, error }));
    },
    async toolBegins(name) {
      if (!(await store.step(id, fence, { name: `${TOOL_STEP}${name}`, detail: name })))
        throw new GatewayError('cancelled', TEXTS.takenOver);
    },
  };
}

/** Milliseconds that a job waits for capacity. Undefined: waiting does not help. @param waitedMs so far */
export function waitFor(
  { kind, code, fault, retryAfterMs, isHopeless }: GatewayError,
  waitedMs: DurationMs,
): number | undefined {
  if (isHopeless) return undefined;
  const hasNoRoom =
    kind === 'rate_limited' ||
    code === 'budget_exceeded' ||
    code === 'conversation_locked' ||
    (fault === 'gateway' && kind === 'upstream_unavailable' && retryAfterMs !== undefined);
  if (!hasNoRoom) return undefined;
  if (code === 'conversation_locked') return LEAST_WAIT_MS;
  const usual = Math.min(USUAL_WAIT_MS, waitedMs / 2);
  return Math.min(MOST_WAIT_MS, Math.max(LEAST_WAIT_MS, retryAfterMs ?? usual));
}
