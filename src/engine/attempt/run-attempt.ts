// One attempt, and a second one where the first went out over a connection that the upstream had closed meanwhile: it may
// have been received, so that each is an attempt of its own in the records.
import type { Attempt } from './attempt.ts';
import type { AttemptResult } from './attempt-options.ts';

/**
 * Runs to the result that counts.
 * @param start makes an attempt. `fresh`: over a connection of its own
 * @param isOver true when nobody waits for the answer any more
 * @param body for the upstream, as a byte string
 */
export async function runAttempt(
  start: (fresh: boolean) => Attempt,
  isOver: () => boolean,
  body: string,
): Promise<AttemptResult> {
  const result = await start(false).run(body);
  const isStale = result.type === 'failed' && result.stale;
  return isStale && !isOver() ? start(true).run(body) : result;
}
