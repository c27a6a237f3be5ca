// Tracks the progress of an attempt and which timeout has passed. The attempt itself stops.
import type { Requester } from './attempt-input.ts';
import type { PreparedAttempt } from './prepared.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Milliseconds and bytes for which an upstream may keep its connection open after the answer is complete. */
const LINGER_MS = 2_000;
const LINGER_BYTES = 64 * 1024;

/** `lingering`: the answer is complete, but the upstream has not closed the connection. */
type AttemptState = 'connecting' | 'waiting' | 'answering' | 'lingering' | 'over';

export class Progress {
  state: AttemptState = 'connecting';
  /** Unix milliseconds, as are the other times. */
  startedAt = 0;
  lastActivityAt = 0;
  /** True: something arrived since the last tick, which sets the time. This avoids reading the clock for each read. */
  #hasReceived = false;
  /** Times when the request was passed to a connection and when the head of the answer arrived. `null`: not yet. */
  #sentAt: UnixMs | null = null;
  #answeredAt: UnixMs | null = null;
  /** End of the complete answer or of the failure. Undefined: still running. */
  endedAt: UnixMs | undefined;
  /** True while the client reads slowly, so that silence is not the upstream's fault. */
  paused = false;
  /** True once the request was passed to a connection. */
  wasSent = false;
  /** Bytes received after the complete answer. */
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

  /** The head of the answer arrived. */
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

  /** Part of the answer arrived. */
  received(): void {
    this.#hasReceived = true;
  }

  /** Adds bytes received after the complete answer. @returns true when there are too many */
  hasSurplus(bytes: number): boolean {
    this.#surplus += bytes;
    return this.#surplus > LINGER_BYTES;
  }

  /** True when the upstream has kept the connection open too long after the complete answer. */
  lingersTooLong(nowMs: UnixMs): boolean {
    return nowMs - (this.endedAt ?? nowMs) > LINGER_MS;
  }

  /** True once the outcome is known. */
  get hasEnded(): boolean {
    return this.state === 'over' || this.state === 'lingering';
  }

  /** The timeout that has passed, as text. Null: none. */
  overdue(
    requester: Pick<Requester, 'timeouts' | 'timeoutsAt' | 'deadlineAt'>,
    { endpoint, request: { stream } }: Pick<PreparedAttempt, 'endpoint' | 'request'>,
    nowMs: UnixMs,
  ): string | null {
    if (this.#hasReceived) this.lastActivityAt = nowMs;
    this.#hasReceived = false;
    const { state, paused } = this;
    const timeouts = requester.timeoutsAt?.(endpoint) ?? requester.timeouts;
    // A self-hosted server that reports its prompt progress is not silent.
    const reportsProgress = endpoint.patience !== undefined && state === 'waiting';
    const waited = nowMs - (reportsProgress ? this.lastActivityAt : this.startedAt);
    const late = (what: string, limitMs: DurationMs): string => `${what} within ${limitMs} ms`;
    if (state === 'connecting' && waited > timeouts.connectMs)
      return late('no connection', timeouts.connectMs);
    if (nowMs > requester.deadlineAt) return late('no complete response', timeouts.totalMs);
    if (state === 'waiting' && stream && waited > timeouts.firstTokenMs)
      return late('no first token', timeouts.firstTokenMs);
    if (state === 'waiting' && !stream && waited > timeouts.responseMs)
      return late('no response', timeouts.responseMs);
    if (state === 'answering' && !paused && nowMs - this.lastActivityAt > timeouts.idleMs)
      return late('no further data', timeouts.idleMs);
    return null;
  }
}
