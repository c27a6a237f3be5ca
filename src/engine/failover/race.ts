// Hedging: when the first content is later than it usually is, a second endpoint is asked as well, and the slower of
// the two is cancelled.
import { GatewayError } from '../../canonical/index.ts';
import type { Candidate } from '../../routing/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { FailedTry } from './failover.ts';

/** A try that runs. */
export interface RunningTry {
  /** Resolves to undefined when it answered. Never rejects. */
  readonly done: Promise<GatewayError | undefined>;
  cancel(reason: GatewayError): void;
}

export interface RaceOptions {
  readonly clock: Clock;
  /** Milliseconds without content after which the second is asked. */
  readonly patienceMs: number;
  /** Starts a try, which calls `claim` right before the client could see anything of it. */
  readonly start: (candidate: Candidate, claim: () => void) => RunningTry;
  readonly takeNext: () => Candidate | undefined;
}

/** @returns the failures; none when one of the two answered */
export async function race(first: Candidate, options: RaceOptions): Promise<readonly FailedTry[]> {
  const running = new Map<Candidate, RunningTry>();
  let winner: Candidate | undefined;
  const enter = (candidate: Candidate): RunningTry => {
    const entered = options.start(candidate, () => {
      winner ??= candidate;
      for (const [other, its] of running)
        if (other !== winner) its.cancel(new GatewayError('cancelled', 'another endpoint answered sooner'));
    });
    running.set(candidate, entered);
    return entered;
  };
  let second: { readonly candidate: Candidate; readonly its: RunningTry } | undefined;
  const leader = enter(first);
  const relax = options.clock.after(options.patienceMs, () => {
    const candidate = winner ? undefined : options.takeNext();
    if (candidate) second = { candidate, its: enter(candidate) };
  });
  const error = await leader.done;
  relax();
  const failed: FailedTry[] = error ? [{ candidate: first, error }] : [];
  if (!second) return failed;
  const other = await second.its.done;
  // Whoever claimed the answer has it; the other was cancelled and says nothing.
  if (winner) return winner === first ? failed : other ? [{ candidate: second.candidate, error: other }] : [];
  return other ? [...failed, { candidate: second.candidate, error: other }] : [];
}
