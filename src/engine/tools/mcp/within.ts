// A promise that does not outlive its time or its caller's patience. Knows nothing of what is done in it.
import type { Clock } from '../../../base/runtime/clock.ts';
import type { McpErrors } from './mcp-error.ts';
import type { DurationMs } from '../../../base/units.ts';

export interface Limit {
  readonly clock: Clock;
  readonly errors: McpErrors;
  /** Milliseconds, from the beginning or the last sign of life; absent: no limit. */
  readonly ms?: number;
  /** Milliseconds from the beginning, whatever signs of life there are; absent: no limit. */
  readonly mostMs?: DurationMs;
  /** The caller's. */
  readonly signal?: AbortSignal;
}

/**
 * Runs `work`, and settles at once when its time is over or the caller gives up; the signal that it gets tells it.
 * @param work its second argument begins its time anew
 * @throws GatewayError `mcp_timeout`, `mcp_cancelled`, or whatever the work throws
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
      if (settle()) reject(errors.make('mcp_cancelled', 'was not waited for'));
      inner.abort('the caller gave up');
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
