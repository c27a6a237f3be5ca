// Tries of candidates: the work that failover does at each of them, and its result.
import { GatewayError } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import type { Candidate } from '../routing/index.ts';
import type { Cancellation } from '../cancellation.ts';
import type { CandidateQueue, Entry } from './candidate-queue.ts';

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
