// How long an attempt may take for each of its steps. Only judges; stopping is the attempt's business.
import type { Timeouts } from '../settings.ts';

/** `lingering`: the answer is complete, but the upstream has not closed yet. */
export type AttemptState = 'connecting' | 'waiting' | 'answering' | 'lingering' | 'over';

export interface Waiting {
  readonly state: AttemptState;
  readonly stream: boolean;
  readonly timeouts: Timeouts;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly lastActivityAt: number;
  readonly deadlineAt: number;
  /** True while the client reads slower than the upstream writes: silence is not the upstream's then. */
  readonly paused: boolean;
}

/** What did not come in time, in words; null while patience lasts. */
export function overdue(waiting: Waiting, nowMs: number): string | null {
  const { state, stream, timeouts, startedAt, lastActivityAt, deadlineAt, paused } = waiting;
  const waited = nowMs - startedAt;
  const late = (what: string, limitMs: number): string => `${what} within ${limitMs} ms`;
  if (state === 'connecting' && waited > timeouts.connectMs) return late('no connection', timeouts.connectMs);
  if (nowMs > deadlineAt) return late('no complete answer', timeouts.totalMs);
  if (state === 'waiting' && stream && waited > timeouts.firstTokenMs)
    return late('no first token', timeouts.firstTokenMs);
  if (state === 'waiting' && !stream && waited > timeouts.responseMs)
    return late('no answer', timeouts.responseMs);
  if (state === 'answering' && !paused && nowMs - lastActivityAt > timeouts.idleMs)
    return late('no further data', timeouts.idleMs);
  return null;
}
