// The queue of jobs, as a port: work that outlives the connection that asked for it. A job is one row; a runner holds it by a
// lease, and every write of a runner names the fence of its lease. All times are those of the database's clock.
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** `waiting`: has no room yet, and is tried again. The last three are ends. */
export type JobState = 'queued' | 'waiting' | 'running' | 'completed' | 'failed' | 'cancelled';

/** States from which a job goes on. */
export const OPEN_STATES: readonly JobState[] = ['queued', 'waiting', 'running'];

/** Lower ones begin first. */
export const PRIORITY = { interactive: 0, background: 1, batch: 2 } as const;

export interface NewJob {
  /** Unique over all projects. */
  readonly id: string;
  /** Names who runs it. */
  readonly kind: string;
  /** Owner: a project, or the receiver that a webhook's delivery goes to. */
  readonly projectId: string;
  readonly keyId: string;
  readonly priority: number;
  /** Share of the project among those that wait: twice the weight is begun twice as often. Default: 1. */
  readonly weight?: number;
  /** Jobs of one lane run one after the other, in the order in which they were added. Null: beside all others. */
  readonly lane: string | null;
  /** Process that alone may run it while it renews its leases: its client reads there. Null: any. */
  readonly home: string | null;
  /** Task of the job. Opaque here. */
  readonly payload: string;
  /** Unix milliseconds, when the row may be forgotten; null: never. */
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
  /** Model that is asked for: a payload that is JSON and begins with `model` says it. Null: none. */
  readonly model: string | null;
  readonly state: JobState;
  readonly priority: number;
  readonly lane: string | null;
  /** Number of times that a runner began it, without the times when it found no room. */
  readonly attempt: number;
  readonly isCancelRequested: boolean;
  /** Why it waits, and since when; null: it does not. */
  readonly waits: { readonly reason: string; readonly sinceMs: UnixMs } | null;
  readonly error: JobError | null;
  readonly createdAt: UnixMs;
  /** Time of its first begin; null: none yet. */
  readonly startedAt: UnixMs | null;
  readonly endedAt: UnixMs | null;
  readonly expiresAt: UnixMs | null;
}

export interface Job extends JobView {
  readonly payload: string;
}

/** A job that a runner holds. */
export interface HeldJob extends Job {
  /** Number of its leases that ran out: its process was killed, or cut off. A job that was given back has not died. */
  readonly deaths: number;
  /** Grows each time somebody takes the job: a write with an older one changes nothing. */
  readonly fence: number;
}

/** State of a job as its holder has to know it. */
export interface RenewedLease {
  readonly id: string;
  readonly fence: number;
  readonly isCancelRequested: boolean;
}

/** Something of a job that has ended, which the next runner does not do again. */
export interface JobStep {
  readonly name: string;
  /** Opaque here. */
  readonly detail: string;
  readonly at: UnixMs;
}

export type JobEnd =
  | { readonly state: 'completed' | 'cancelled' }
  | { readonly state: 'failed'; readonly error: JobError };

/** Data that goes with the end of a job. */
export interface JobEnding {
  /** Jobs that are added with it. */
  readonly following?: readonly NewJob[];
  /** Milliseconds after which it may be forgotten, where that is sooner than its own expiry. Null: not sooner. */
  readonly keepMs?: DurationMs | null;
}

export interface JobWait {
  /** A sentence. */
  readonly reason: string;
  /** When it is tried again, in milliseconds from now. */
  readonly forMs: DurationMs;
  /** False: it had not begun, so that this counts as no attempt. */
  readonly hasBegun: boolean;
  /** True: it has come further since it waited last, so that it waits since now. */
  readonly isNew?: boolean;
}

/** Newest first. */
export interface JobQuery {
  readonly limit: number;
  /** The last one of the page before. */
  readonly after?: string | undefined;
  readonly states?: readonly JobState[] | undefined;
  readonly kind?: string | undefined;
  readonly project?: string | undefined;
}

export interface JobCount {
  readonly kind: string;
  readonly state: JobState;
  readonly jobs: number;
  /** Time when the oldest was added. */
  readonly oldestAt: UnixMs;
}

export interface ClaimOptions {
  /** Names the process, unlike all others that ever ran. */
  readonly owner: string;
  readonly leaseMs: DurationMs;
  readonly limit: number;
  /** Kinds of jobs that the runner knows. */
  readonly kinds: readonly string[];
  /** Most jobs of one project that run at once, over all processes. */
  readonly perProject: number;
  /** Lowest priority that may begin, as a number: higher numbers are left. */
  readonly priority: number;
  /** Jobs that run here: not taken a second time where their leases are over, because somebody has set the clock. */
  readonly running: readonly string[];
}

export interface JobStore {
  /** Durable when it resolves. @throws GatewayError `rate_limited` where `maxOpen` of its project are open already */
  add(job: NewJob, maxOpen: number): Promise<JobView>;
  /** Adds jobs; those that are there already stay as they are. Durable when it resolves. */
  addAll(jobs: readonly NewJob[]): Promise<void>;
  /** Number of jobs of an owner that have not ended. */
  openOf(projectId: string): Promise<number>;
  /** Takes jobs, the first of the queue first: by priority, then fairly between projects. */
  claim(options: ClaimOptions): Promise<readonly HeldJob[]>;
  /** Holds everything of an owner for longer. @returns what it holds; whatever is missing is somebody else's */
  renew(owner: string, leaseMs: DurationMs): Promise<readonly RenewedLease[]>;
  /** Records a step; it takes the place of one of the same name. False: the fence is an older one. */
  step(id: string, fence: number, step: Omit<JobStep, 'at'>): Promise<boolean>;
  /** Steps of a job, in their order. */
  steps(id: string): Promise<readonly JobStep[]>;
  /** Lets go of a job that is tried again later. False: the fence is an older one. */
  wait(id: string, fence: number, wait: JobWait): Promise<boolean>;
  /** Lets go of everything of an owner that stops: others may take it at once. */
  release(owner: string): Promise<void>;
  /** Ends a job, once. @returns false: the fence is an older one */
  finish(id: string, fence: number, end: JobEnd, ending?: JobEnding): Promise<boolean>;
  /**
   * Ends a job that does not run; of one that runs, its runner is asked to end it.
   * @returns the job as it is then; null where there is none
   */
  cancel(id: string, ending?: JobEnding): Promise<JobView | null>;
  /** Queues a job again that failed or was cancelled: a further attempt, and no death counts. Null: there is none that did. */
  retry(id: string): Promise<JobView | null>;
  /** Null: none of this project. */
  find(projectId: string, id: string): Promise<Job | null>;
  /** A job of whichever project; null where there is none. */
  get(id: string): Promise<JobView | null>;
  list(query: JobQuery): Promise<{ readonly jobs: readonly JobView[]; readonly hasMore: boolean }>;
  counts(): Promise<readonly JobCount[]>;
  /** Keeps the stream that a job has written. False: the fence is an older one. */
  keepStream(id: string, fence: number, bytes: Uint8Array): Promise<boolean>;
  /** Null: none is kept. */
  stream(projectId: string, id: string): Promise<Uint8Array | null>;
  /** False: there is none of this project. */
  delete(projectId: string, id: string): Promise<boolean>;
  /** Deletes jobs that have expired, a bounded number. Returns how many; 0 when none is left. */
  purge(nowMs: UnixMs): Promise<number>;
}
