// Threads of a protocol: conversations that the gateway holds for clients which send only what is new of them. What is
// kept where is decided in the engine.
import type { JsonObject } from '../../base/json/index.ts';
import type { GatewayError, ThreadTurn } from '../../canonical/index.ts';

/** A turn as it is kept: what was said, and the body of its answer. */
export interface KeptThreadTurn extends Pick<ThreadTurn, 'messages' | 'fixed'> {
  readonly answer: JsonObject;
}

export interface ThreadCodec {
  /**
   * Thread that a body names. Null: it belongs to none.
   * @throws GatewayError `invalid_request` for a malformed member
   */
  read(body: JsonObject): ThreadTurn | null;
  /**
   * The body as if its client had sent the whole conversation.
   * @param turns earlier turns, oldest first; at least one
   * @throws GatewayError `invalid_request` for a member that differs from the thread's
   */
  join(body: JsonObject, turns: readonly KeptThreadTurn[]): JsonObject;
  /** The id under which clients know the answer of a generation. */
  answerId(generationId: string): string;
  /** The error for an id that names no turn of this project. */
  unknown(id: string): GatewayError;
}
