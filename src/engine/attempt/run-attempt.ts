// One attempt, and a second one where the first went out over a connection that the upstream had closed meanwhile: it may
// have been received, so that each is an attempt of its own in the records.
import type { GatewayError } from '../../canonical/index.ts';
import type { Attempt } from './attempt.ts';

/**
 * Runs to the end that counts.
 * @param start makes an attempt. `fresh`: over a connection of its own
 * @param isOver true when nobody waits for the answer any more
 * @returns undefined when it answered
 */
export async function runAttempt(
  start: (fresh: boolean) => Attempt,
  isOver: () => boolean,
): Promise<GatewayError | undefined> {
  const attempt = start(false);
  const failure = await attempt.run();
  return attempt.isStale && !isOver() ? start(true).run() : failure;
}
