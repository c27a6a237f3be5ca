// Threads of a protocol: conversations that the gateway stores for clients that send only new messages.
import type { JsonObject } from '../../base/json/index.ts';
import type { GatewayError, ThreadTurn } from '../../canonical/index.ts';

/** A stored turn: its messages and the body of its answer. */
export interface KeptThreadTurn extends Pick<ThreadTurn, 'messages' | 'fixed'> {
  readonly answer: JsonObject;
}

export interface ThreadCodec {
  /** Returns the thread that a body names; null: none. @throws GatewayError `invalid_request` for an invalid member */
  read(body: JsonObject): ThreadTurn | null;
  /**
   * Returns the body as if the client had sent the whole conversation.
   * @param turns earlier turns, oldest first; at least one
   * @throws GatewayError `invalid_request` for a member that differs from the thread's
   */
  join(body: JsonObject, turns: readonly KeptThreadTurn[]): JsonObject;
  /** Returns the id under which clients know a generation's answer. */
  answerId(generationId: string): string;
  /** Creates the error for an id that is not a turn of this project. */
  unknown(id: string): GatewayError;
}
