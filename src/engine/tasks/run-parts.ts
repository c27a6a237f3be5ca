// Several upstream requests that are one try together: a few at a time, and the first failure ends them all. Knows
// nothing of what they ask.
import { GatewayError } from '../../canonical/index.ts';
import type { Cancellation } from '../cancellation.ts';
import { sideBySide } from '../side-by-side.ts';

/** More would only meet the upstream's limits. */
const MOST_AT_ONCE = 8;

/**
 * Runs parts.
 * @param cancellation of the whole try
 * @param run runs one until it has answered, or failed; called in order. One that rejects has failed
 * @returns the first failure; undefined when all have answered
 */
export function runParts<Part>(
  parts: readonly Part[],
  cancellation: Cancellation,
  run: (part: Part, own: Cancellation) => Promise<GatewayError | undefined>,
): Promise<GatewayError | undefined> {
  return cancellation.within(async (own) => {
    let failure: GatewayError | undefined;
    await sideBySide(parts, MOST_AT_ONCE, async (part) => {
      if (own.reason) return;
      const error = await run(part, own).catch(GatewayError.from);
      if (!error || own.reason) return;
      failure = error;
      own.cancel(new GatewayError('cancelled', 'another part of the request has failed'));
    });
    return failure ?? own.reason;
  });
}
