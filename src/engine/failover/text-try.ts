// Types of a text request that is tried at several candidates, and of one try.
import type { CanonicalRequest } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import type { Admitted, Planned } from '../admit/index.ts';
import type { ClientAnswer } from '../answer/index.ts';
import type { AttemptOutput, LearnedRefusals } from '../attempt/index.ts';
import type { AttemptLog } from '../attempt-log.ts';
import type { Cancellation } from '../cancellation.ts';
import type { GatewayDependencies } from '../dependencies.ts';
import type { Candidate } from '../routing/index.ts';
import type { TryTerms } from './candidate-queue.ts';

export interface TextInput {
  readonly deps: GatewayDependencies;
  readonly admitted: Admitted;
  /** Request and endpoints, of the whole request or of one turn. */
  readonly planned: Planned;
  readonly attemptLog: AttemptLog;
  readonly learned: LearnedRefusals;
  /** Cancellation of the whole request. */
  readonly cancellation: Cancellation;
  readonly answer: AttemptOutput & Pick<ClientAnswer, 'committed'>;
  /** Adapts the request to an endpoint whose tools the gateway replaces. Absent: unchanged. */
  readonly fit?: (request: CanonicalRequest, endpoint: Endpoint) => Promise<CanonicalRequest>;
  /** True: the request differs from the client's own bytes. */
  readonly translate: boolean;
}

export interface TextTry {
  readonly input: TextInput;
  readonly candidate: Candidate;
  readonly terms: TryTerms;
  /** Request of this try: the turn, or the rest of an interrupted answer. */
  readonly request: CanonicalRequest;
  readonly output: AttemptOutput;
  /** True: the answer must be translated, even if it could be relayed. */
  readonly translate: boolean;
}
