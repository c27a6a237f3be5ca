// How far an attempt has come, and whether that took too long. Only judges; stopping is the attempt's business.
import type { Requester } from './attempt-input.ts';
import type { PreparedAttempt } from './prepared.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** How long an upstream may keep its connection open after the answer is complete, and how much it may still say. */
const LINGER_MS = 2_000;
const LINGER_BYTES = 64 * 1024;

/** `lingering`: the answer is complete, but the upstream has not closed yet. */
type AttemptState = 'connecting' | 'waiting' | 'answering' | 'lingering' | 'over';

export class Progress {
  state: AttemptState = 'connecting';
  /** Unix milliseconds, as are the others. */
  startedAt = 0;
  lastActivityAt = 0;
  /** Something came since the last look: nobody asks the clock for every read of a stream. */
  #hasReceived = false;
  /** When the request was handed to a connection, and when the head of the answer came. `null`: not yet. */
  #sentAt: UnixMs | null = null;
  #answeredAt: UnixMs | null = null;
  /** End of a complete answer or of a failure. Undefined: it is running. */
  endedAt: UnixMs | undefined;
  /** True while the client reads slower than the upstream writes: silence is not the upstream's then. */
  paused = false;
  /** True once the request was handed to a connection. */
  wasSent = false;
  /** Bytes that came behind the complete answer. */
  #surplus = 0;

  begin(nowMs: UnixMs): void {
    this.startedAt = nowMs;
    this.lastActivityAt = nowMs;
  }

  sent(nowMs: UnixMs): void {
    this.#sentAt = nowMs;
    this.state = 'waiting';
    this.wasSent = true;
  }

  /** The head of the answer came. */
  answered(nowMs: UnixMs): void {
    this.#answeredAt = nowMs;
    this.lastActivityAt = nowMs;
  }

  /** Times for records. */
  get times(): {
    readonly startedAt: UnixMs;
    readonly sentAt: UnixMs | null;
    readonly answeredAt: UnixMs | null;
  } {
    return { startedAt: this.startedAt, sentAt: this.#sentAt, answeredAt: this.#answeredAt };
  }

  /** Something of the answer came. */
  received(): void {
    this.#hasReceived = true;
  }

  /** So many bytes came behind the complete answer. @returns true once there are too many of them */
  hasSurplus(bytes: number): boolean {
    this.#surplus += bytes;
    return this.#surplus > LINGER_BYTES;
  }

  /** True where the answer was complete long ago, and its upstream still does not end it. */
  lingersTooLong(nowMs: UnixMs): boolean {
    return nowMs - (this.endedAt ?? nowMs) > LINGER_MS;
  }

  /** True once its outcome is known. */
  get hasEnded(): boolean {
    return this.state === 'over' || this.state === 'lingering';
  }

  /** Timeout that has passed, in words. Null: there is time left. */
  overdue(
    requester: Pick<Requester, 'timeouts' | 'timeoutsAt' | 'deadlineAt'>,
    { endpoint, request: { stream } }: Pick<PreparedAttempt, 'endpoint' | 'request'>,
    nowMs: UnixMs,
  ): string | null {
    if (this.#hasReceived) this.lastActivityAt = nowMs;
    this.#hasReceived = false;
    const { state, paused } = this;
    const timeouts = requester.timeoutsAt?.(endpoint) ?? requester.timeouts;
    // A server of one's own that tells how far it has read the prompt is not silent.
    const reportsProgress = endpoint.patience !== undefined && state === 'waiting';
    const waited = nowMs - (reportsProgress ? this.lastActivityAt : this.startedAt);
    const late = (what: string, limitMs: DurationMs): string => `${what} within ${limitMs} ms`;
    if (state === 'connecting' && waited > timeouts.connectMs)
      return late('no connection', timeouts.connectMs);
    if (nowMs > requester.deadlineAt) return late('no complete answer', timeouts.totalMs);
    if (state === 'waiting' && stream && waited > timeouts.firstTokenMs)
      return late('no first token', timeouts.firstTokenMs);
    if (state === 'waiting' && !stream && waited > timeouts.responseMs)
      return late('no answer', timeouts.responseMs);
    if (state === 'answering' && !paused && nowMs - this.lastActivityAt > timeouts.idleMs)
      return late('no further data', timeouts.idleMs);
    return null;
  }
}
