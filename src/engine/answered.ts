// How the tries of a request ended.
import type { GatewayError, Item } from '../canonical/index.ts';
import type { Attempt } from './attempt/index.ts';

export interface Answered {
  /** Undefined when the answer is complete. */
  readonly failure: GatewayError | undefined;
  /** True when the client reads of the failure in its answer, so that nothing more has to be said. */
  readonly isReported: boolean;
  /** The attempts whose answers the client gets, in the order of their turns; none where nobody answered. */
  readonly turns: readonly Attempt[];
  /** Last of several turns of the model, without its calls of the gateway's tools; undefined for one turn. */
  readonly lastTurn?: readonly Item[] | undefined;
}
