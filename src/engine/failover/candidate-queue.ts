// Queue of a plan's candidates that may still be tried, in their order, with wait times.
import { GatewayError } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import type { Candidate, Plan } from '../routing/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { retryDelayMs } from '../failure-table.ts';
import { refusalOfProvider } from '../provider-capacity.ts';
import type { EngineConfig } from '../settings.ts';
import type { UnixMs } from '../../base/units.ts';
import type { Cancellation } from '../cancellation.ts';

/** A queued candidate. */
export interface Entry {
  readonly candidate: Candidate;
  /** Tries so far. */
  readonly tries: number;
  /** Unix milliseconds before which it must not be tried. */
  readonly notBefore: UnixMs;
  /** True: it is tried next, even if that requires waiting. */
  readonly isAwaited: boolean;
}

export interface QueueOptions {
  readonly deps: Pick<GatewayDependencies, 'clock' | 'random' | 'routing' | 'limits'>;
  readonly settings: Pick<EngineConfig['routing'], 'retries' | 'rateLimited'>;
  /** Unix milliseconds. Deadline of the whole request. */
  readonly deadlineAt: UnixMs;
}

export class CandidateQueue {
  readonly #plan: Plan;
  readonly #options: QueueOptions;
  #entries: Entry[];

  constructor(plan: Plan, options: QueueOptions) {
    this.#plan = plan;
    this.#options = options;
    this.#entries = plan.candidates.map(newEntry);
  }

  /** Candidates in order of trying. */
  get candidates(): readonly Candidate[] {
    return this.#entries.map(({ candidate }) => candidate);
  }

  /** True while there is an endpoint that was not tried yet and may be. */
  get hasUntried(): boolean {
    return this.#plan.failover && this.#entries.some(({ tries }) => tries === 0);
  }

  /**
   * Takes the first candidate that is available now, or else the first: an open circuit breaker alone must not refuse a
   * request.
   */
  take(): Entry | undefined {
    const { deps } = this.#options;
    const at = this.#entries.findIndex(
      ({ candidate, isAwaited }) => isAwaited || mayBeAsked(candidate.endpoint, deps),
    );
    return this.#entries.splice(Math.max(at, 0), 1)[0];
  }

  /** Puts a candidate first: it was not tried, or its failure taught something. */
  putBack(entry: Entry): void {
    this.#entries.unshift(entry);
  }

  /** Removes candidates that fail the test. */
  keep(test: (endpoint: Endpoint) => boolean): void {
    this.#entries = this.#entries.filter(({ candidate }) => test(candidate.endpoint));
  }

  /** Queues a candidate for another try after a delay, if tries and time are left. */
  retry(entry: Entry, error: GatewayError): void {
    const { deps, settings, deadlineAt } = this.#options;
    const isLimit = error.kind === 'rate_limited';
    const isAwaited = settings.rateLimited === 'wait' && isLimit && error.retryAfterMs !== undefined;
    const retries = isAwaited ? Math.max(1, settings.retries) : settings.retries;
    const delayMs = entry.tries < retries ? retryDelayMs(error, entry.tries, deps.random()) : null;
    const now = deps.clock.now();
    if (delayMs === null || now + delayMs >= deadlineAt) return;
    const again = {
      candidate: entry.candidate,
      tries: entry.tries + 1,
      notBefore: now + delayMs,
      isAwaited,
    };
    // A candidate that asked for a delay gets it while the others are tried.
    if (!isAwaited && (isLimit || error.retryAfterMs !== undefined)) this.#entries.push(again);
    else this.#entries.unshift(again);
  }
}

/** False while the endpoint is paused, or its provider's limits are exceeded. */
export function mayBeAsked(
  endpoint: Endpoint,
  { routing, limits }: Pick<GatewayDependencies, 'routing' | 'limits'>,
): boolean {
  return routing.admits(endpoint) && (!limits.hasProviders || refusalOfProvider(limits, endpoint) === null);
}

function newEntry(candidate: Candidate): Entry {
  return { candidate, tries: 0, notBefore: 0, isAwaited: false };
}

// Tries of candidates: the work that failover does at each of them, and its result.

/** Conditions of one try of the whole request. */
export interface TryTerms {
  /** Cancellation of this try alone, or of the whole request. */
  readonly cancellation: Cancellation;
  /** Further candidates. */
  readonly others: Pick<CandidateQueue, 'hasUntried'>;
  /** Called immediately before the first output to the client. Absent: no other try competes. */
  readonly claim?: (() => void) | undefined;
}

/** A request that is tried at several candidates. */
export interface Trial {
  /** True once the client has received content, so that it cannot be restarted. */
  readonly committed: boolean;
  /** Estimated tokens of the request and of the answer that it allows. */
  neededTokens(): number;
  /**
   * Tries the whole request once.
   * @returns undefined when it was answered. May also reject: the next candidate may answer
   */
  try(candidate: Candidate, terms: TryTerms): Promise<GatewayError | undefined>;
  /** True when the failure taught something, so that the request is worth sending again immediately. */
  learn(endpoint: Endpoint, error: GatewayError): boolean;
  /**
   * Completes an answer that was interrupted after its first content.
   * @param others candidates that were not tried
   * @returns undefined when another endpoint completed it
   */
  resume(
    broken: Candidate,
    error: GatewayError,
    others: readonly Candidate[],
  ): Promise<GatewayError | undefined>;
}

/** A candidate that was tried. */
export interface Tried {
  readonly entry: Entry;
  /** The failure. Undefined: it answered, or was cancelled in favour of another. */
  readonly error: GatewayError | undefined;
}

/** Tries once. Never rejects. */
export async function tryAlone(trial: Trial, entry: Entry, terms: TryTerms): Promise<Tried> {
  try {
    return { entry, error: await trial.try(entry.candidate, terms) };
  } catch (thrown) {
    return { entry, error: GatewayError.from(thrown) };
  }
}
