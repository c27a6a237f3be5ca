// One attempt, and a second one where the first went out over a connection that the upstream had closed meanwhile: it may
// have been received, so that each is an attempt of its own in the records.
import type { Cancellation } from '../cancellation.ts';
import type { Trail } from '../trail.ts';
import { Attempt } from './attempt.ts';
import type { AttemptInput, AttemptServices } from './attempt-input.ts';

/**
 * Makes an attempt and runs it to its end.
 * @param trail takes every attempt as it begins
 * @returns the one that counts
 */
export async function runAttempt(
  input: AttemptInput,
  trail: Trail,
  cancellation: Cancellation,
  services: AttemptServices,
): Promise<Attempt> {
  for (let fresh = false; ; fresh = true) {
    const attempt = new Attempt(input, { ordinal: trail.attempts.length, fresh }, services);
    trail.add(attempt);
    const running = attempt.run();
    cancellation.add(attempt);
    await running;
    cancellation.remove(attempt);
    if (fresh || !attempt.isStale || cancellation.reason) return attempt;
  }
}
