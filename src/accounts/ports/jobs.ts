// Port of the job queue, for work that outlives its connection. A job is one row. A runner holds it by a lease, and
// all of its writes name the fence of the lease. All times are by the database's clock.
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** `waiting`: lacks capacity and will be retried. The last three are final. */
export type JobState = 'queued' | 'waiting' | 'running' | 'completed' | 'failed' | 'cancelled';

/** States of jobs that have not ended. */
export const OPEN_STATES: readonly JobState[] = ['queued', 'waiting', 'running'];

/** Lower numbers start first. */
export const PRIORITY = { interactive: 0, background: 1, batch: 2 } as const;

export interface NewJob {
  /** Unique across projects. */
  readonly id: string;
  /** Selects the runner. */
  readonly kind: string;
  /** Owner: a project, or a webhook receiver for deliveries. */
  readonly projectId: string;
  readonly keyId: string;
  readonly priority: number;
  /** Share of the project among waiting jobs: with twice the weight, jobs start twice as often. Default: 1. */
  readonly weight?: number;
  /** Jobs of one lane run sequentially, in the order in which they were added. Null: independent of others. */
  readonly lane: string | null;
  /**
   * Only process that may run it while that process renews its leases, because its client is connected there. Null:
   * any.
   */
  readonly home: string | null;
  /** Task of the job. Opaque here. */
  readonly payload: string;
  /** Unix milliseconds at which the row may be deleted; null: never. */
  readonly expiresAt: UnixMs | null;
}

export interface JobError {
  readonly code: string;
  readonly message: string;
}

/** A job without its payload. */
export interface JobView {
  readonly id: string;
  readonly kind: string;
  readonly projectId: string;
  readonly keyId: string;
  /** Requested model, if it is among the first members of the JSON payload. Null: none. */
  readonly model: string | null;
  /** Event type of a webhook delivery, likewise. Null: none. */
  readonly eventType: string | null;
  readonly state: JobState;
  readonly priority: number;
  readonly lane: string | null;
  /** Number of starts, without those that lacked capacity. */
  readonly attempt: number;
  readonly isCancelRequested: boolean;
  /** Why and since when it waits; null: it does not wait. */
  readonly waits: { readonly reason: string; readonly sinceMs: UnixMs } | null;
  readonly error: JobError | null;
  readonly createdAt: UnixMs;
  /** Time of the first start; null: not started. */
  readonly startedAt: UnixMs | null;
  readonly endedAt: UnixMs | null;
  readonly expiresAt: UnixMs | null;
}

export interface Job extends JobView {
  readonly payload: string;
}

/** A job held by a runner. */
export interface HeldJob extends Job {
  /** Number of leases that expired, because the process was killed or disconnected. Released jobs do not count. */
  readonly deaths: number;
  /** Increases each time the job is claimed. Writes with an older fence have no effect. */
  readonly fence: number;
}

/** State of a job that its holder needs to know. */
export interface RenewedLease {
  readonly id: string;
  readonly fence: number;
  readonly isCancelRequested: boolean;
}

/** A completed step of a job, which a later runner skips. */
export interface JobStep {
  readonly name: string;
  /** Opaque here. */
  readonly detail: string;
  readonly at: UnixMs;
}

export type JobEnd =
  | { readonly state: 'completed' | 'cancelled' }
  | { readonly state: 'failed'; readonly error: JobError };

/** Data stored with the end of a job. */
export interface JobEnding {
  /** Jobs added in the same transaction. */
  readonly following?: readonly NewJob[];
  /** Milliseconds after which it may be deleted, if that is earlier than its own expiry. Null: its own expiry. */
  readonly keepMs?: DurationMs | null;
}

export interface JobWait {
  /** One sentence. */
  readonly reason: string;
  /** Milliseconds until the next attempt. */
  readonly forMs: DurationMs;
  /** False: it had not started, so this does not count as an attempt. */
  readonly hasBegun: boolean;
  /** True: it has made progress since it last waited, so the waiting time starts again. */
  readonly isNew?: boolean;
}

/** Filter of a list of jobs, newest first. */
export interface JobQuery {
  readonly limit: number;
  /** Last id of the previous page. */
  readonly after?: string | undefined;
  readonly states?: readonly JobState[] | undefined;
  readonly kind?: string | undefined;
  readonly project?: string | undefined;
}

export interface JobCount {
  readonly kind: string;
  readonly state: JobState;
  readonly jobs: number;
  /** Time at which the oldest was added. */
  readonly oldestAt: UnixMs;
}

export interface ClaimOptions {
  /** Name of the process, unique for all time. */
  readonly owner: string;
  readonly leaseMs: DurationMs;
  readonly limit: number;
  /** Kinds of jobs that the runner supports. */
  readonly kinds: readonly string[];
  /** Maximum running jobs per project, across processes. */
  readonly perProject: number;
  /** Lowest priority that may start. Jobs with a higher number are not claimed. */
  readonly priority: number;
  /** Jobs running here. They are not claimed again if a clock change makes their leases expire. */
  readonly running: readonly string[];
  /** False: running jobs of other processes are left alone, even if their leases have expired. */
  readonly takesOver: boolean;
}

export interface JobStore {
  /**
   * Adds a job, durable when it resolves. @throws GatewayError `rate_limited` if the project already has `maxOpen`
   * open jobs
   */
  add(job: NewJob, maxOpen: number): Promise<JobView>;
  /** Adds jobs, durable when it resolves. Existing ones are unchanged. */
  addAll(jobs: readonly NewJob[]): Promise<void>;
  /** Number of an owner's jobs that have not ended. */
  openOf(projectId: string): Promise<number>;
  /** Claims jobs from the head of the queue: by priority, then fairly between projects. */
  claim(options: ClaimOptions): Promise<readonly HeldJob[]>;
  /**
   * Extends the leases of jobs that run at their owner. Others that it holds expire: it does not know that it claimed them.
   * @param running ids of jobs
   * @returns jobs it still holds; missing ones belong to others
   */
  renew(owner: string, leaseMs: DurationMs, running: readonly string[]): Promise<readonly RenewedLease[]>;
  /** Stores a step, replacing one of the same name. @returns false if the fence is outdated */
  step(id: string, fence: number, step: Omit<JobStep, 'at'>): Promise<boolean>;
  /** Steps of a job, in order. */
  steps(id: string): Promise<readonly JobStep[]>;
  /** Releases a job to be retried later. @returns false if the fence is outdated */
  wait(id: string, fence: number, wait: JobWait): Promise<boolean>;
  /** Releases all jobs of an owner that is stopping, so that others can claim them immediately. */
  release(owner: string): Promise<void>;
  /** Ends a job, once. @returns false if the fence is outdated */
  finish(id: string, fence: number, end: JobEnd, ending?: JobEnding): Promise<boolean>;
  /**
   * Cancels a job. If it is running, its runner is asked to stop.
   * @returns the resulting state; null if there is no such job
   */
  cancel(id: string, ending?: JobEnding): Promise<JobView | null>;
  /** Queues a failed or cancelled job again, and resets `deaths`. @returns null if there is no such job */
  retry(id: string): Promise<JobView | null>;
  /** Null if the project has no such job. */
  find(projectId: string, id: string): Promise<Job | null>;
  /** A job of any project; null if it does not exist. */
  get(id: string): Promise<JobView | null>;
  list(query: JobQuery): Promise<{ readonly jobs: readonly JobView[]; readonly hasMore: boolean }>;
  counts(): Promise<readonly JobCount[]>;
  /** Stores the stream that a job has written. @returns false if the fence is outdated */
  keepStream(id: string, fence: number, bytes: Uint8Array): Promise<boolean>;
  /** Null: none is stored. */
  stream(projectId: string, id: string): Promise<Uint8Array | null>;
  /** Deletes a job. Its response is not stored any more. @returns false if the project has no such job */
  delete(projectId: string, id: string): Promise<boolean>;
  /** Deletes a bounded number of expired jobs. @returns how many; 0: none are left */
  purge(nowMs: UnixMs): Promise<number>;
}
