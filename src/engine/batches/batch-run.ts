// One run of a batch in this process: state that all its lines share, and the reason why no more lines begin. Running
// lines may end, unless another process has taken over the batch.
import type { JsonObject } from '../../base/json/index.ts';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import type { Batch, JobWait } from '../../accounts/ports/index.ts';
import type { BatchCodec, UnansweredEnd } from '../../protocols/index.ts';
import { Cancellation } from '../cancellation.ts';
import { type CallPayload, CANCELLED, isNewReason, type JobRun } from '../jobs/index.ts';
import type { BatchDependencies } from './batch-settings.ts';
import { LineWriter } from './line-writer.ts';
import type { DurationMs } from '../../base/units.ts';

/** Milliseconds for which running lines may continue after their batch was cancelled or has expired. */
const GRACE_MS = 30_000;
/** Longest wait for which a run keeps its lines in memory, in milliseconds. */
const SHORT_MS = 5_000;
/** Interval at which waiting lines are checked, in milliseconds. */
const LOOK_MS = 100;

/** Reason why no more lines begin. */
export type Stop =
  | { readonly type: 'wait'; readonly wait: JobWait }
  /** `rest`: the end of all other lines. */
  | { readonly type: 'end'; readonly rest: UnansweredEnd };

/** Headers of the request that made the batch. */
export type BatchPayload = Pick<CallPayload, 'headers'>;

export class BatchRun {
  readonly run: JobRun;
  readonly batch: Batch;
  readonly codec: BatchCodec;
  readonly facts: JsonObject;
  readonly headers: CallPayload['headers'];
  readonly deps: BatchDependencies;
  readonly writer: LineWriter;
  /** Stops running lines. */
  readonly lines = new Cancellation();
  #stop: Stop | undefined;
  #pausedUntil = 0;
  #hasProgress = false;
  #stopGrace: (() => void) | undefined;
  readonly #stopDeadline: () => void;

  constructor(run: JobRun, batch: Batch, codec: BatchCodec, deps: BatchDependencies) {
    this.run = run;
    this.batch = batch;
    this.codec = codec;
    this.deps = deps;
    this.facts = JSON.parse(batch.facts) as JsonObject;
    this.headers = (JSON.parse(run.job.payload) as BatchPayload).headers;
    this.writer = new LineWriter({ run, batches: deps.storage.batches, clock: deps.clock, log: deps.log });
    run.cancellation.add({
      cancel: (reason) => {
        if (reason === CANCELLED) this.#endWith({ type: 'cancelled' });
        else this.lines.cancel(reason);
      },
    });
    const expired = (): void => this.#endWith({ type: 'expired' });
    const leftMs = this.leftMs;
    if (leftMs <= 0) expired();
    this.#stopDeadline = deps.clock.after(Math.max(0, leftMs), expired);
  }

  /** Milliseconds until the deadline. */
  get leftMs(): DurationMs {
    return this.batch.deadlineAt - this.deps.clock.wall();
  }

  /** Number of requests that came in a body, one per line of the input file. Null: the client uploaded the file. */
  get requests(): number | null {
    const { requests } = this.facts;
    return typeof requests === 'number' ? requests : null;
  }

  get stop(): Stop | undefined {
    return this.#stop;
  }

  /** True: another process has or will take over the batch. */
  get isLost(): boolean {
    const { reason } = this.run.cancellation;
    return reason !== undefined && reason !== CANCELLED;
  }

  /** True: no line may begin. */
  get isStopped(): boolean {
    return this.#stop !== undefined || this.lines.reason !== undefined;
  }

  /** Notes that a line has ended, so that a later wait counts from its own start. */
  progress(): void {
    this.#hasProgress = true;
  }

  /** Ends the batch, and with it all lines that have not begun. Takes precedence over a wait. */
  endWith(rest: UnansweredEnd): void {
    if (this.#stop?.type !== 'end') this.#stop = { type: 'end', rest };
  }

  /**
   * Waits while no capacity is available: here if the wait is short, otherwise in the queue.
   * @returns false when the line is left to a later run
   */
  async pause(reason: string, forMs: DurationMs): Promise<boolean> {
    if (forMs > SHORT_MS) this.#waitFor(reason, forMs);
    else this.#pausedUntil = Math.max(this.#pausedUntil, this.deps.clock.now() + forMs);
    return this.resumed();
  }

  /** Resolves when lines may begin. False: no more lines begin. */
  async mayBegin(): Promise<boolean> {
    const { pace, takes, clock } = this.deps;
    const since = clock.now();
    for (;;) {
      if (!takes()) this.#waitFor(TEXTS.stopped, 0);
      if (!(await this.resumed())) return false;
      const { refusal } = pace;
      if (refusal === null) return true;
      if (clock.now() - since >= SHORT_MS) this.#waitFor(refusal, SHORT_MS);
      else await this.#sleep(LOOK_MS);
    }
  }

  /** Resolves after all pauses. False: no more lines begin. */
  async resumed(): Promise<boolean> {
    while (!this.isStopped) {
      const leftMs = this.#pausedUntil - this.deps.clock.now();
      if (leftMs <= 0) return true;
      await this.#sleep(Math.min(leftMs, LOOK_MS));
    }
    return false;
  }

  close(): void {
    this.#stopDeadline();
    this.#stopGrace?.();
  }

  #waitFor(reason: string, forMs: DurationMs): void {
    const wait = {
      reason,
      forMs: Math.max(0, Math.min(forMs, this.leftMs)),
      hasBegun: false,
      isNew: this.#hasProgress || isNewReason(this.run.job, reason),
    };
    this.#stop ??= { type: 'wait', wait };
  }

  #endWith(rest: { readonly type: 'cancelled' | 'expired' }): void {
    this.endWith(rest);
    const over = new GatewayError(
      'cancelled',
      `The batch has ${rest.type === 'expired' ? 'expired' : 'been cancelled'}.`,
    );
    this.#stopGrace ??= this.deps.clock.after(GRACE_MS, () => this.lines.cancel(over));
  }

  #sleep(ms: DurationMs): Promise<void> {
    return new Promise((resolve) => void this.deps.clock.after(ms, resolve));
  }
}
