// Tries the candidates of a plan until one answers: decides when to wait, hedge, move on and stop.
import { type ErrorKind, GatewayError, isOverloaded } from '../../canonical/index.ts';
import type { Planned } from '../admit/index.ts';
import { Cancellation } from '../cancellation.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { actionFor, isOwnRefusal } from '../failure-table.ts';
import { CandidateQueue, type Entry, type Trial, type Tried, tryAlone } from './candidate-queue.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Endpoint } from '../../catalog/index.ts';
import { contextOf, mayHold, type Overflow, shownContext, statedContext } from '../routing/index.ts';
import type { DurationMs } from '../../base/units.ts';

export interface FailoverInput {
  readonly planned: Planned;
  readonly deps: Pick<GatewayDependencies, 'clock' | 'random' | 'routing' | 'limits'>;
  /** Cancellation of the whole request. */
  readonly cancellation: Cancellation;
}

/** @returns undefined when one answered, otherwise the error for the client. Never rejects */
export async function tryCandidates(trial: Trial, input: FailoverInput): Promise<GatewayError | undefined> {
  const { planned, deps, cancellation } = input;
  const { plan, deadlineAt, arrival } = planned;
  const { clock } = deps;
  const queue = new CandidateQueue(plan, { deps, settings: arrival.settings.config.routing, deadlineAt });
  const failures: Failure[] = [];
  for (let entry = queue.take(); entry; entry = queue.take()) {
    const waitMs = entry.notBefore - clock.now();
    if (waitMs > 0) await pause(waitMs, input);
    if (cancellation.reason) return cancellation.reason;

    const patienceMs = patienceFor(entry, input);
    const tried =
      patienceMs === null
        ? [await tryAlone(trial, entry, { cancellation, others: queue })]
        : await race(trial, entry, { queue, clock, patienceMs, cancellation });
    const broken = tried.find(({ error }) => error !== undefined);
    if (!broken?.error) return undefined;
    if (cancellation.reason) return cancellation.reason;
    if (trial.committed) return trial.resume(broken.entry.candidate, broken.error, queue.candidates);

    for (const { entry: unanswered, error } of tried) if (!error) queue.putBack(unanswered);
    for (const { entry: done, error } of tried) {
      if (!error) continue;
      const { endpoint } = done.candidate;
      if (trial.learn(endpoint, error)) {
        queue.putBack(done);
        continue;
      }
      failures.push({ endpoint: endpoint.slug, error });
      if (!plan.failover || clock.now() >= deadlineAt) return finalError(failures);
      switch (actionFor(error)) {
        case 'return':
          return finalError(failures);
        case 'retry':
          queue.retry(done, error);
          break;
        case 'larger-context':
          queue.keep(mayHoldMore(endpoint, error, trial.neededTokens(), deps));
          break;
        case 'other-model':
          queue.keep(({ modelId }) => modelId !== endpoint.modelId);
          break;
        case 'next':
      }
    }
  }
  return finalError(failures);
}

/**
 * Milliseconds without content after which a second endpoint is tried as well. `null`: hedging is off, or the usual
 * latency is unknown.
 */
function patienceFor({ candidate }: Entry, { planned, deps }: FailoverInput): number | null {
  const { plan, request } = planned;
  return plan.wishes.hedge === true ? deps.routing.health(candidate.endpoint).p95Ms(request.stream) : null;
}

function pause(ms: DurationMs, { deps, cancellation }: FailoverInput): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => {
      stop();
      cancellation.remove(waiting);
      resolve();
    };
    const waiting = { cancel: over };
    const stop = deps.clock.after(ms, over);
    cancellation.add(waiting);
  });
}

// Hedging: when the first content is later than usual, a second endpoint is tried as well, and the slower one is
// cancelled.

export interface RaceOptions {
  /** Further candidates. */
  readonly queue: CandidateQueue;
  readonly clock: Clock;
  /** Milliseconds without content after which the second endpoint is tried. */
  readonly patienceMs: DurationMs;
  /** Cancellation of both attempts. */
  readonly cancellation: Cancellation;
}

/** @returns the candidates that were tried, with their failures; empty when one of the two answered */
function race(trial: Trial, first: Entry, options: RaceOptions): Promise<readonly Tried[]> {
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
      for (const competitor of running)
        if (competitor.entry !== winner)
          competitor.own.cancel(new GatewayError('cancelled', 'another endpoint responded first'));
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

// Context overflow: what a refusal reveals about the context length, and which endpoints may have a larger one.

/**
 * Learns the context length from a refusal.
 * @param needed estimated tokens of the request and of the answer that it allows
 * @returns a test for endpoints whose context may suffice
 */
function mayHoldMore(
  endpoint: Endpoint,
  error: GatewayError,
  needed: number,
  { routing, clock }: Pick<GatewayDependencies, 'routing' | 'clock'>,
): (other: Endpoint) => boolean {
  const overflow = (of: Endpoint): Overflow => ({
    modelId: of.modelId,
    contextLength: contextOf(of, routing.health(of), clock.now()),
  });
  const refused = overflow(endpoint);
  // Our own refusals add no information.
  if (!error.upstream) return (other) => mayHold(overflow(other), refused, needed);
  const stated = error.context?.limit ?? statedContext(error.message);
  const shown = stated ?? shownContext(needed);
  if (shown !== null) routing.learnContext(endpoint, shown);
  if (stated === null) return (other) => mayHold(overflow(other), refused, needed);
  // The server's count of tokens is more accurate than ours.
  const least = Math.max(stated, (error.context?.prompt ?? 0) - 1);
  return (other) => {
    const { contextLength } = overflow(other);
    // Its context may be larger, unless it is the same model on the same server.
    if (contextLength === null) return other.baseUrl !== endpoint.baseUrl || other.model !== endpoint.model;
    return contextLength > least;
  };
}

// Final error: the client's error when no endpoint answered.

/** Error of one failed try, and its endpoint. */
export interface Failure {
  /** Slug of the endpoint. */
  readonly endpoint: string;
  readonly error: GatewayError;
}

/** Kinds of error that are kept if all endpoints failed in the same way, with their message. */
const SHARED: Partial<Readonly<Record<ErrorKind, string>>> = {
  timeout: 'every endpoint was too slow',
  rate_limited: 'every endpoint is rate limited',
  quota: 'the account of every endpoint is out of credit',
};

/**
 * Combines all failures into one error (contract: "Errors"). Client errors and own refusals are returned unchanged. A
 * limit, empty account or timeout shared by all keeps its kind. Otherwise the error lists each endpoint's failure. The
 * upstream's body is kept if there was only one failure, or all were overloaded.
 */
function finalError(failures: readonly Failure[]): GatewayError {
  const [first] = failures;
  if (!first) return new GatewayError('upstream_unavailable', 'no endpoint of this model is available');
  const { error } = failures.at(-1) ?? first;
  if (isOwnRefusal(error)) return error;
  const errors = failures.map((failure) => failure.error);
  const isShared = errors.every(({ kind }) => kind === error.kind);
  if (error.fault === 'client' && (failures.length === 1 || isShared)) return error;
  const words = isShared ? SHARED[error.kind] : undefined;
  const isOne = failures.every(({ endpoint }) => endpoint === first.endpoint);
  const waits = errors.map(({ retryAfterMs }) => retryAfterMs).filter((ms) => ms !== undefined);
  return new GatewayError(
    words ? error.kind : 'upstream_unavailable',
    `${words ?? 'no endpoint could serve the request'}: ${summary(failures)}`,
    {
      code: codeOf(errors),
      // If only some endpoints asked for a delay, another may answer sooner.
      retryAfterMs: waits.length > 0 && isShared ? Math.min(...waits) : undefined,
      details: isOne ? error.details : undefined,
      upstream: isOne || errors.every(isOverloaded) ? error.upstream : undefined,
    },
  );
}

/** Servers have many codes for rate limits, while clients know the one of the kind. */
function codeOf(errors: readonly GatewayError[]): string | undefined {
  const codes = new Set(errors.map(({ kind, code }) => (kind === 'rate_limited' ? undefined : code)));
  return codes.size === 1 ? [...codes][0] : undefined;
}

/** Outcome of each endpoint, in order. Identical failures of one endpoint appear once, with their count. */
function summary(failures: readonly Failure[]): string {
  const counts = new Map<string, number>();
  for (const { endpoint, error } of failures) {
    const line = error.message.startsWith(endpoint) ? error.message : `${endpoint}: ${error.message}`;
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  return [...counts].map(([line, count]) => (count > 1 ? `${line} (${count} attempts)` : line)).join('; ');
}
