// Hedging: when the first content is later than usual, a second endpoint is tried as well, and the slower one is
// cancelled.
import { GatewayError } from '../../canonical/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { DurationMs } from '../../base/units.ts';
import { Cancellation } from '../cancellation.ts';
import { type CandidateQueue, type Entry, type Trial, type Tried, tryAlone } from './candidate-queue.ts';

export interface HedgeOptions {
  /** Further candidates. */
  readonly queue: CandidateQueue;
  readonly clock: Clock;
  /** Milliseconds without content after which the second endpoint is tried. */
  readonly patienceMs: DurationMs;
  /** Cancellation of both attempts. */
  readonly cancellation: Cancellation;
}

/**
 * Tries a candidate, and a second one if the first is slow.
 * @returns the candidates that were tried, with their failures; empty when one of the two answered
 */
export function hedge(trial: Trial, first: Entry, options: HedgeOptions): Promise<readonly Tried[]> {
  return options.cancellation.within((both) => race(trial, first, { ...options, cancellation: both }));
}

async function race(
  trial: Trial,
  first: Entry,
  { queue, clock, patienceMs, cancellation }: HedgeOptions,
): Promise<readonly Tried[]> {
  const running: { readonly entry: Entry; readonly own: Cancellation }[] = [];
  let winner: Entry | undefined;
  const enter = (entry: Entry): Promise<Tried> => {
    const own = new Cancellation();
    running.push({ entry, own });
    cancellation.add(own);
    const claim = (): void => {
      winner ??= entry;
      for (const competitor of running)
        if (competitor.entry !== winner)
          competitor.own.cancel(new GatewayError('cancelled', 'Another endpoint responded first.'));
    };
    return tryAlone(trial, entry, { cancellation: own, others: queue, claim });
  };
  let second: Promise<Tried> | undefined;
  const leader = enter(first);
  const relax = clock.after(patienceMs, () => {
    const entry = winner ? undefined : queue.take();
    if (entry) second = enter(entry);
  });
  const tried = await leader;
  relax();
  const all = second ? [tried, await second] : [tried];
  // Only the attempt that claimed the answer counts; the other was cancelled.
  const outcomes = all.map((one) =>
    winner && one.entry !== winner ? { entry: one.entry, error: undefined } : one,
  );
  const hasAnswered = outcomes.some(
    ({ entry, error }) => error === undefined && (!winner || entry === winner),
  );
  return hasAnswered ? [] : outcomes;
}
