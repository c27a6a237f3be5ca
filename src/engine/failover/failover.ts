// Tries the candidates of a plan until one answers. Knows when to wait, when to move on and when to stop; how a
// candidate is tried is not its business.
import type { GatewayError } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import type { Candidate, Plan } from '../../routing/index.ts';
import { actionFor, retryDelayMs } from '../failure-table.ts';
import { type Failure, finalError } from './final-error.ts';

export interface FailedTry {
  readonly candidate: Candidate;
  readonly error: GatewayError;
}

/** What the loop needs of the request that it works for. */
export interface FailoverHost {
  /** Further tries per endpoint, before the next one. */
  readonly retries: number;
  /** True: an endpoint that asks for a short pause is waited for before the next one is tried. */
  readonly waitsForLimits: boolean;
  /** Unix milliseconds by which the whole request must be over. */
  readonly deadlineAt: number;
  now(): number;
  /** A number in [0, 1). */
  random(): number;
  pause(ms: number): Promise<void>;
  /** Set once nobody waits for the answer any more. */
  interruption(): GatewayError | undefined;
  /** True once the client has seen content: from then on nobody can start over. */
  committed(): boolean;
  admits(endpoint: Endpoint): boolean;
  /**
   * An endpoint refused the request as too long: notes what that shows. @returns whether another may hold it
   */
  overflowed(endpoint: Endpoint, error: GatewayError): (other: Endpoint) => boolean;
  /** True when the failure taught something, so that the same request is worth sending again at once. */
  learn(endpoint: Endpoint, error: GatewayError): boolean;
  /**
   * One try; with hedging it may take further candidates.
   * @param hasOthers asked when the answer says nothing: true while another endpoint has not been asked
   * @returns the failures; none when somebody answered
   */
  tryOne(
    candidate: Candidate,
    takeNext: () => Candidate | undefined,
    hasOthers: () => boolean,
  ): Promise<readonly FailedTry[]>;
  /** The answer broke off after its first content. @returns undefined when another endpoint completed it */
  resume(broken: FailedTry, others: readonly Candidate[]): Promise<GatewayError | undefined>;
}

interface Entry {
  readonly candidate: Candidate;
  /** Tries so far. */
  readonly tries: number;
  /** Unix milliseconds before which it must be left alone. */
  readonly notBefore: number;
  /** True: it comes next, although it must be waited for. */
  readonly isAwaited?: boolean;
}

/** @returns undefined when one answered, else the error for the client */
export async function tryCandidates(plan: Plan, host: FailoverHost): Promise<GatewayError | undefined> {
  const queue: Entry[] = plan.candidates.map((candidate) => ({ candidate, tries: 0, notBefore: 0 }));
  const failures: Failure[] = [];
  for (let entry = take(queue, host); entry; entry = take(queue, host)) {
    const waitMs = entry.notBefore - host.now();
    if (waitMs > 0) await host.pause(waitMs);
    const before = host.interruption();
    if (before) return before;

    const tried = new Map<Candidate, Entry>([[entry.candidate, entry]]);
    const takeNext = (): Candidate | undefined => {
      const next = take(queue, host);
      if (next) tried.set(next.candidate, next);
      return next?.candidate;
    };
    const hasOthers = (): boolean => plan.failover && queue.some(({ tries }) => tries === 0);
    const failed = await host.tryOne(entry.candidate, takeNext, hasOthers);
    const [first] = failed;
    if (!first) return undefined;
    const during = host.interruption();
    if (during) return during;
    if (host.committed())
      return host.resume(
        first,
        queue.map(({ candidate }) => candidate),
      );

    // Who was cancelled for another that failed afterwards has not had its chance.
    for (const [candidate, unheard] of tried)
      if (!failed.some((failure) => failure.candidate === candidate)) queue.unshift(unheard);
    for (const { candidate, error } of failed) {
      const done = tried.get(candidate);
      if (!done) continue;
      if (host.learn(candidate.endpoint, error)) {
        queue.unshift(done);
        continue;
      }
      failures.push({ endpoint: candidate.endpoint.slug, error });
      if (!plan.failover || host.now() >= host.deadlineAt) return finalError(failures);
      if (actionFor(error) === 'return') return finalError(failures);
      afterFailure(done, error, queue, host);
    }
  }
  return finalError(failures);
}

/** The first that may be asked now; when none may, the first: a breaker must not turn into a refusal of its own. */
function take(queue: Entry[], host: FailoverHost): Entry | undefined {
  const at = queue.findIndex(
    ({ candidate, isAwaited }) => isAwaited === true || host.admits(candidate.endpoint),
  );
  return queue.splice(Math.max(at, 0), 1)[0];
}

/** Changes the queue as the failure table says. */
function afterFailure(done: Entry, error: GatewayError, queue: Entry[], host: FailoverHost): void {
  const { endpoint } = done.candidate;
  switch (actionFor(error)) {
    case 'larger-context': {
      const holds = host.overflowed(endpoint, error);
      keep(queue, ({ candidate }) => holds(candidate.endpoint));
      return;
    }
    case 'other-model':
      keep(queue, ({ candidate }) => candidate.endpoint.modelId !== endpoint.modelId);
      return;
    case 'retry': {
      const isAwaited =
        host.waitsForLimits && error.kind === 'rate_limited' && error.retryAfterMs !== undefined;
      const retries = isAwaited ? Math.max(1, host.retries) : host.retries;
      const delayMs = done.tries < retries ? retryDelayMs(error, done.tries, host.random()) : null;
      if (delayMs === null || host.now() + delayMs >= host.deadlineAt) return;
      const again = { ...done, tries: done.tries + 1, notBefore: host.now() + delayMs, isAwaited };
      // One that asked for a pause gets it while the others are tried.
      if (!isAwaited && (error.kind === 'rate_limited' || error.retryAfterMs !== undefined))
        queue.push(again);
      else queue.unshift(again);
      return;
    }
    default:
  }
}

function keep(queue: Entry[], test: (entry: Entry) => boolean): void {
  const kept = queue.filter(test);
  queue.splice(0, queue.length, ...kept);
}
