// Work that the loop over candidates tries at each of them, and how one try went.
import { GatewayError } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import type { Candidate } from '../routing/index.ts';
import type { Cancellation } from '../cancellation.ts';
import type { CandidateQueue, Entry } from './candidate-queue.ts';

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
