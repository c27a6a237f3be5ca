// The candidates of a plan that may still be tried, in the order in which they will be: who comes next, who has to wait, who is
// out; and what a try is.
import { GatewayError } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import type { Candidate, Plan } from '../routing/index.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import { retryDelayMs } from '../failure-table.ts';
import { fullReason } from '../provider-room.ts';
import type { EngineConfig } from '../settings.ts';
import type { Cancellation } from '../cancellation.ts';
import type { UnixMs } from '../../base/units.ts';

/** A candidate that waits for its try. */
export interface Entry {
  readonly candidate: Candidate;
  /** Tries so far. */
  readonly tries: number;
  /** Unix milliseconds before which it must be left alone. */
  readonly notBefore: UnixMs;
  /** True: it comes next, although it must be waited for. */
  readonly isAwaited: boolean;
}

export interface QueueOptions {
  readonly deps: Pick<GatewayDependencies, 'clock' | 'random' | 'routing' | 'limits'>;
  readonly settings: Pick<EngineConfig['routing'], 'retries' | 'rateLimited'>;
  /** Unix milliseconds by which the whole request must be over. */
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

  /** In the order in which they would be tried. */
  get candidates(): readonly Candidate[] {
    return this.#entries.map(({ candidate }) => candidate);
  }

  /** True while another endpoint may be asked that has not been. */
  get hasUntried(): boolean {
    return this.#plan.failover && this.#entries.some(({ tries }) => tries === 0);
  }

  /** The first that may be asked now; when none may, the first: a breaker must not turn into a refusal of its own. */
  take(): Entry | undefined {
    const { deps } = this.#options;
    const at = this.#entries.findIndex(
      ({ candidate, isAwaited }) => isAwaited || mayBeAsked(candidate.endpoint, deps),
    );
    return this.#entries.splice(Math.max(at, 0), 1)[0];
  }

  /** It comes next: it has not had its chance, or something was learned from its failure. */
  putBack(entry: Entry): void {
    this.#entries.unshift(entry);
  }

  /** Only who passes the test is tried from now on. */
  keep(test: (endpoint: Endpoint) => boolean): void {
    this.#entries = this.#entries.filter(({ candidate }) => test(candidate.endpoint));
  }

  /** It is tried again after a wait, where there are tries and time left. */
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
    // One that asked for a pause gets it while the others are tried.
    if (!isAwaited && (isLimit || error.retryAfterMs !== undefined)) this.#entries.push(again);
    else this.#entries.unshift(again);
  }
}

/** False while it is left alone, or its provider has no room. */
export function mayBeAsked(
  endpoint: Endpoint,
  { routing, limits }: Pick<GatewayDependencies, 'routing' | 'limits'>,
): boolean {
  return routing.admits(endpoint) && (!limits.hasProviders || fullReason(limits, endpoint) === null);
}

function newEntry(candidate: Candidate): Entry {
  return { candidate, tries: 0, notBefore: 0, isAwaited: false };
}

// Work that the loop over candidates tries at each of them, and how one try went.

/** Under what a try of the whole request runs. */
export interface TryTerms {
  /** Cancellation of this try alone, or of the whole request. */
  readonly cancellation: Cancellation;
  /** Candidates that may be asked besides. */
  readonly others: Pick<CandidateQueue, 'hasUntried'>;
  /** To be called right before the client could see anything of it; absent where it has no rival. */
  readonly claim?: (() => void) | undefined;
}

/** A request as it is tried at one candidate after the other. */
export interface Trial {
  /** True once the client has seen content: from then on nobody can start over. */
  readonly committed: boolean;
  /** Tokens of the request and of the answer that it asks for, by our estimate. */
  neededTokens(): number;
  /** One try of the whole request. @returns undefined when it answered. It may also reject: the next one may answer */
  try(candidate: Candidate, terms: TryTerms): Promise<GatewayError | undefined>;
  /** True when the failure taught something, so that the same request is worth sending again at once. */
  learn(endpoint: Endpoint, error: GatewayError): boolean;
  /**
   * The answer of a candidate broke off after its first content.
   * @param others who has not been asked
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
  /** How it failed; undefined where it answered, or was cancelled for another before it was heard. */
  readonly error: GatewayError | undefined;
}

/** One try. Never rejects. */
export async function tryAlone(trial: Trial, entry: Entry, terms: TryTerms): Promise<Tried> {
  try {
    return { entry, error: await trial.try(entry.candidate, terms) };
  } catch (thrown) {
    return { entry, error: GatewayError.from(thrown) };
  }
}
