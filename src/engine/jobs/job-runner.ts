// Runs queued jobs in this process: claims them while capacity is available, renews their leases, and writes their
// results.
import { type Clock, stepOf } from '../../base/runtime/clock.ts';
import { newId } from '../../base/runtime/ids.ts';
import type { Logger } from '../../base/telemetry/log.ts';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import {
  type HeldJob,
  type JobEnd,
  type JobStore,
  type JobView,
  type JobWait,
  type NewJob,
} from '../../accounts/ports/index.ts';
import type { DurationMs } from '../../base/units.ts';
import { Cancellation } from '../cancellation.ts';

/** Lease duration in milliseconds. Afterwards, another process may take the job. */
const LEASE_MS = 15_000;
const RENEW_MS = 3_000;
/**
 * Time without takeovers after the machine's clock was set, in milliseconds. Leases by that clock may have expired at once, and
 * living processes renew theirs meanwhile.
 */
const CLOCK_SET_MS = 2 * RENEW_MS;
/** Interval of polling for jobs that other processes added, or whose wait is over. */
const LOOK_MS = 1_000;
/** Retry interval of failed writes. They are repeated because upstream answers are already paid for. */
const RETRY_MS = 1_000;
/** Maximum jobs per claim. */
const MOST_TAKEN = 20;

/** A running job as its work sees it. */
export interface JobRun {
  readonly job: HeldJob;
  /** Stops the work: the job was cancelled, or another process has taken it over. */
  readonly cancellation: Cancellation;
  readonly store: JobStore;
  /**
   * Reads or writes, and retries until it succeeds, because the disk may be full or the database unavailable. Rejects
   * when another process has the job, this process stops, or the project's storage limit is exceeded.
   */
  stored<T>(access: () => Promise<T>): Promise<T>;
}

/** `null`: another process has taken over the job. */
export type JobOutcome = { readonly end: JobEnd } | { readonly wait: JobWait } | null;

/** Does the work of one kind. Never rejects if it can report the job's end. */
export type JobWork = (run: JobRun) => Promise<JobOutcome>;

export interface JobRunnerOptions {
  readonly store: JobStore;
  readonly kinds: ReadonlyMap<string, JobWork>;
  /** Lowest priority that it runs, as a number. */
  readonly priority: number;
  /** Jobs to add in the transaction that ends a job, and a callback for when they exist. Absent: none. */
  readonly following?: {
    readonly jobsOf: (job: JobView, end: JobEnd) => Promise<readonly NewJob[]>;
    readonly added: () => void;
  };
  /** Called when a job was added and this process has no capacity. Absent: there are no other processes. */
  readonly passOn?: (() => void) | undefined;
  /** Maximum retention of finished jobs in milliseconds, if shorter than requested. Absent or null: no maximum. */
  readonly keepMs?: () => number | null;
  /** Maximum concurrent jobs: in this process, and per project across all processes. */
  readonly limits: () => { readonly concurrent: number; readonly perProject: number };
  /** False once the process is shutting down. */
  readonly takes: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

export class JobRunner {
  /** Unique id of this process among all job runners. */
  readonly owner = newId('runner_');
  readonly #options: JobRunnerOptions;
  readonly #running = new Map<string, JobRun>();
  readonly #stops: (() => void)[] = [];
  #isTaking = false;
  /** Ends with the last claim. */
  #taking = Promise.resolve();
  #isWoken = false;
  #hasStopped = false;
  /** True: leases could not be renewed, so other processes may take the running jobs. */
  #isBehind = false;
  /** Milliseconds by which the machine's clock was set, when last read. */
  #clockStep: DurationMs;
  /** Monotonic milliseconds from which leases of other processes count. */
  #takesOverFrom = -Infinity;

  constructor(options: JobRunnerOptions) {
    this.#options = options;
    this.#clockStep = stepOf(options.clock);
  }

  /** Number of running jobs. */
  get running(): number {
    return this.#running.size;
  }

  start(): void {
    const { clock } = this.#options;
    this.#stops.push(
      clock.every(LOOK_MS, () => this.look()),
      clock.every(RENEW_MS, () => void this.#renew()),
    );
  }

  /** Stops claiming and releases running jobs, so that other processes continue them. */
  async stop(): Promise<void> {
    for (const stop of this.#stops) stop();
    this.#hasStopped = true;
    for (const { cancellation } of this.#running.values()) cancellation.cancel(STOPPED);
    // Jobs that are being claimed are released, too.
    await this.#taking;
    await this.#options.store.release(this.owner).catch(() => {});
  }

  /** Called when a job was added. */
  wake(): void {
    if (this.#hasRoom()) this.look();
    else this.#options.passOn?.();
  }

  /** Polls for jobs. */
  look(): void {
    this.#isWoken = true;
    if (!this.#isTaking) this.#taking = this.#takeAll();
  }

  /** Cancels a job that runs here. */
  cancel(id: string): void {
    this.#running.get(id)?.cancellation.cancel(CANCELLED);
  }

  async #takeAll(): Promise<void> {
    this.#isTaking = true;
    try {
      while (this.#isWoken && this.#mayTake()) {
        this.#isWoken = false;
        await this.#take();
      }
    } catch (error) {
      // The next poll retries.
      this.#options.log.warn('jobs could not be taken from the queue', { error });
    } finally {
      this.#isTaking = false;
    }
  }

  #mayTake(): boolean {
    return !this.#hasStopped && this.#options.takes() && this.#hasRoom();
  }

  #hasRoom(): boolean {
    return this.#running.size < this.#options.limits().concurrent;
  }

  async #take(): Promise<void> {
    const { store, limits, kinds, priority } = this.#options;
    // Otherwise it could claim its own jobs again.
    if (this.#isBehind) await this.#renew();
    if (this.#isBehind) return;
    const { concurrent, perProject } = limits();
    const limit = Math.min(MOST_TAKEN, concurrent - this.#running.size);
    const taken = await store.claim({
      owner: this.owner,
      leaseMs: LEASE_MS,
      limit,
      kinds: [...kinds.keys()],
      perProject,
      priority,
      running: [...this.#running.keys()],
      takesOver: this.#takesOver(),
    });
    if (this.#hasStopped) return;
    for (const job of taken) void this.#run(job);
    if (taken.length === limit) this.#isWoken = true;
  }

  /** False while leases of living processes may have expired because the machine's clock was set. */
  #takesOver(): boolean {
    const { clock } = this.#options;
    const step = stepOf(clock);
    if (Math.abs(step - this.#clockStep) > RENEW_MS) this.#takesOverFrom = clock.now() + CLOCK_SET_MS;
    this.#clockStep = step;
    return clock.now() >= this.#takesOverFrom;
  }

  async #run(job: HeldJob): Promise<void> {
    const { store, kinds, log } = this.#options;
    const cancellation = new Cancellation();
    const run: JobRun = {
      job,
      store,
      cancellation,
      stored: (access) => this.#stored(job, cancellation, access),
    };
    this.#running.set(job.id, run);
    if (job.isCancelRequested) run.cancellation.cancel(CANCELLED);
    try {
      const work = kinds.get(job.kind);
      const outcome = work ? await work(run) : unknownKind(job.kind);
      if (this.#hasStopped) return;
      if (outcome && 'end' in outcome) await run.stored(() => this.#end(job, outcome.end));
      else if (outcome) await run.stored(() => store.wait(job.id, job.fence, outcome.wait));
    } catch (error) {
      const { reason } = cancellation;
      if (reason === LOST || reason === STOPPED) return;
      log.error('a job could not be run', { id: job.id, error });
      const { message } = GatewayError.from(error);
      const end: JobEnd = { state: 'failed', error: { code: 'server_error', message } };
      // Rejects only if another process ends the job.
      await run.stored(() => this.#end(job, end)).catch(() => {});
    } finally {
      this.#running.delete(job.id);
      this.look();
    }
  }

  async #end(job: HeldJob, end: JobEnd): Promise<void> {
    const { store, following, keepMs } = this.#options;
    const added = (await following?.jobsOf(job, end)) ?? [];
    const ending = { following: added, keepMs: keepMs?.() ?? null };
    if ((await store.finish(job.id, job.fence, end, ending)) && added.length > 0) following?.added();
  }

  async #stored<T>(job: HeldJob, cancellation: Cancellation, access: () => Promise<T>): Promise<T> {
    const { clock, log } = this.#options;
    for (;;) {
      try {
        return await access();
      } catch (error) {
        const { reason } = cancellation;
        if (reason === LOST || reason === STOPPED) throw reason;
        if (this.#hasStopped) throw STOPPED;
        if (GatewayError.from(error).kind === 'quota') throw error;
        log.warn('the database or the disk failed during a job; this is retried', { id: job.id, error });
        await new Promise<void>((again) => void clock.after(RETRY_MS, again));
      }
    }
  }

  /** Renews leases. Jobs that another process has taken over are stopped here. */
  async #renew(): Promise<void> {
    if (this.#running.size === 0) {
      this.#isBehind = false;
      return;
    }
    const asked = new Map(this.#running);
    try {
      const held = await this.#options.store.renew(this.owner, LEASE_MS, [...asked.keys()]);
      this.#isBehind = false;
      const byId = new Map(held.map((lease) => [lease.id, lease]));
      for (const [id, { job, cancellation }] of asked) {
        const lease = byId.get(id);
        if (lease?.fence === job.fence) {
          if (lease.isCancelRequested) cancellation.cancel(CANCELLED);
        } else if (this.#running.has(id)) cancellation.cancel(LOST);
      }
    } catch (error) {
      this.#isBehind = true;
      this.#options.log.warn('leases of jobs could not be renewed', { error });
    }
  }
}

/** Reasons of cancellation. */
export const CANCELLED = new GatewayError('cancelled', 'The job was cancelled.');
export const LOST = new GatewayError('cancelled', TEXTS.takenOver);
const STOPPED = new GatewayError('cancelled', TEXTS.shuttingDown);

function unknownKind(kind: string): JobOutcome {
  const message = `This version of Dragoman does not support jobs of kind '${kind}'.`;
  return { end: { state: 'failed', error: { code: 'unknown_kind', message } } };
}
