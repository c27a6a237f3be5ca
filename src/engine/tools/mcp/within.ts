// Limits a promise by a timeout and by its caller's signal.
import type { Clock } from '../../../base/runtime/clock.ts';
import type { McpErrors } from './mcp-error.ts';
import type { DurationMs } from '../../../base/units.ts';

export interface Limit {
  readonly clock: Clock;
  readonly errors: McpErrors;
  /** Milliseconds since the start or the last sign of progress. Absent: unlimited. */
  readonly ms?: number;
  /** Milliseconds since the start in any case. Absent: unlimited. */
  readonly mostMs?: DurationMs;
  /** Signal of the caller. */
  readonly signal?: AbortSignal;
}

/**
 * Runs `work` and settles immediately on timeout or cancellation, which also aborts the signal passed to it.
 * @param work its second argument restarts the timeout
 * @throws GatewayError `mcp_timeout`, `mcp_cancelled`, or the error of the work
 */
export function within<T>(
  { clock, ms, mostMs, signal, errors }: Limit,
  work: (signal: AbortSignal, alive: () => void) => Promise<T>,
): Promise<T> {
  const inner = new AbortController();
  return new Promise((resolve, reject) => {
    let stopTimer = (): void => {};
    let stopLast = (): void => {};
    let isOver = false;
    const settle = (): boolean => {
      if (isOver) return false;
      isOver = true;
      stopTimer();
      stopLast();
      signal?.removeEventListener('abort', cancel);
      return true;
    };
    const late = (limitMs: DurationMs): void => {
      if (settle()) reject(errors.make('mcp_timeout', `took longer than ${limitMs} ms`));
      inner.abort('it took too long');
    };
    const cancel = (): void => {
      if (settle()) reject(errors.make('mcp_cancelled', 'was cancelled'));
      inner.abort('the caller cancelled the request');
    };
    const alive = (): void => {
      stopTimer();
      if (ms !== undefined && !isOver) stopTimer = clock.after(ms, () => late(ms));
    };
    if (signal?.aborted) return cancel();
    signal?.addEventListener('abort', cancel);
    alive();
    if (mostMs !== undefined) stopLast = clock.after(mostMs, () => late(mostMs));
    work(inner.signal, alive).then(
      (value) => settle() && resolve(value),
      (error: unknown) => settle() && reject(error),
    );
  });
}
