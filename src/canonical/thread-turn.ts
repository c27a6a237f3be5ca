// One turn of a thread: a conversation that the gateway holds, so that its client sends only what is new. Knows no
// protocol's words for it.
import type { JsonObject } from '../base/json/index.ts';

export interface ThreadTurn {
  /** Id of the answer that the turn continues, as the client wrote it. Undefined: the thread begins here. */
  readonly previousId: string | undefined;
  /** Messages of this turn alone, raw. */
  readonly messages: readonly JsonObject[];
  /** Members that hold for the whole thread, raw. Empty behind its first turn. */
  readonly fixed: JsonObject;
}
