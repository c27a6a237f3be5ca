// Several upstream requests that are one try together: a few at a time, and the first failure ends them all. Knows
// nothing of what they ask.
import { GatewayError } from '../../canonical/index.ts';
import { inLanes } from '../in-lanes.ts';
import type { RunningTry } from '../failover/index.ts';

/** More would only meet the upstream's limits. */
const MOST_AT_ONCE = 8;

/**
 * Runs parts.
 * @param count how many there are
 * @param start begins one, by its place; called in order. What it throws fails the try as the part itself would
 */
export function runParts(count: number, start: (place: number) => RunningTry): RunningTry {
  const running = new Set<RunningTry>();
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
  const places = Array.from({ length: count }, (_, place) => place);
  const all = inLanes(places, MOST_AT_ONCE, async (place) => {
    if (failure) return;
    const error = await runOne(place);
    if (error && !failure)
      stop(error, new GatewayError('cancelled', 'another part of the request has failed'));
  });
  return {
    done: all.then(() => failure),
    cancel: (reason) => stop(reason, reason),
  };
}
