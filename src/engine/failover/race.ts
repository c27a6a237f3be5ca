// Hedging: when the first content is later than it usually is, a second endpoint is asked as well, and the slower of
// the two is cancelled.
import { GatewayError } from '../../canonical/index.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import { Cancellation } from '../cancellation.ts';
import type { CandidateQueue, Entry } from './candidate-queue.ts';
import { type Trial, type Tried, tryAlone } from './trial.ts';

export interface RaceOptions {
  /** Candidates that may be asked besides. */
  readonly queue: CandidateQueue;
  readonly clock: Clock;
  /** Milliseconds without content after which the second is asked. */
  readonly patienceMs: number;
  /** Cancellation of both attempts. */
  readonly cancellation: Cancellation;
}

/** @returns who was tried, and how each failed; nobody when one of the two answered */
export function race(trial: Trial, first: Entry, options: RaceOptions): Promise<readonly Tried[]> {
  return options.cancellation.within((both) => run(trial, first, { ...options, cancellation: both }));
}

async function run(
  trial: Trial,
  first: Entry,
  { queue, clock, patienceMs, cancellation }: RaceOptions,
): Promise<readonly Tried[]> {
  const running: { readonly entry: Entry; readonly own: Cancellation }[] = [];
  let winner: Entry | undefined;
  const enter = (entry: Entry): Promise<Tried> => {
    const own = new Cancellation();
    running.push({ entry, own });
    cancellation.add(own);
    const claim = (): void => {
      winner ??= entry;
      for (const rival of running)
        if (rival.entry !== winner)
          rival.own.cancel(new GatewayError('cancelled', 'another endpoint answered sooner'));
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
  // The attempt that claimed the answer has it; the other was cancelled and nothing of it is used.
  const outcomes = all.map((one) =>
    winner && one.entry !== winner ? { entry: one.entry, error: undefined } : one,
  );
  const hasAnswered = outcomes.some(
    ({ entry, error }) => error === undefined && (!winner || entry === winner),
  );
  return hasAnswered ? [] : outcomes;
}
