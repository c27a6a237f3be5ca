// Result of all attempts of a request.
import type { GatewayError, Item } from '../canonical/index.ts';
import type { Attempt } from './attempt/index.ts';

export interface Answered {
  /** Undefined when the answer is complete. */
  readonly failure: GatewayError | undefined;
  /** True when the answer itself reports the failure, so no further error is sent. */
  readonly isReported: boolean;
  /** Attempts whose answers the client gets, in order of their turns. Empty: none answered. */
  readonly turns: readonly Attempt[];
  /** The last of several turns without its calls of gateway tools. Undefined: there was one turn. */
  readonly lastTurn?: readonly Item[] | undefined;
}
