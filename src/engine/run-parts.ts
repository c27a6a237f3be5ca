// Several upstream requests that are one try together: a few at a time, and the first failure ends them all. Knows
// nothing of what they ask.
import { GatewayError } from '../canonical/index.ts';
import type { RunningTry } from './race.ts';

/** More would only meet the upstream's limits. */
const MOST_AT_ONCE = 8;

/**
 * Runs parts.
 * @param count how many there are
 * @param start begins one, by its place; called in order. What it throws fails the try as the part itself would
 */
export function runParts(count: number, start: (place: number) => RunningTry): RunningTry {
  const running = new Set<RunningTry>();
  let begun = 0;
  let failure: GatewayError | undefined;
  const stop = (cause: GatewayError, reason: GatewayError): void => {
    failure ??= cause;
    for (const part of running) part.cancel(reason);
  };
  const runOne = async (place: number): Promise<GatewayError | undefined> => {
    let part: RunningTry | undefined;
    try {
      part = start(place);
      running.add(part);
      return await part.done;
    } catch (thrown) {
      return GatewayError.from(thrown);
    } finally {
      if (part) running.delete(part);
    }
  };
  const runOneAfterAnother = async (): Promise<void> => {
    while (begun < count && !failure) {
      const error = await runOne(begun++);
      if (error && !failure)
        stop(error, new GatewayError('cancelled', 'another part of the request has failed'));
    }
  };
  const lanes = Array.from({ length: Math.min(count, MOST_AT_ONCE) }, runOneAfterAnother);
  return {
    done: Promise.all(lanes).then(() => failure),
    cancel: (reason) => stop(reason, reason),
  };
}
