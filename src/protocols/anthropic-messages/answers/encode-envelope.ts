// The members of a message around its content, alike in a whole answer and in `message_start`. Knows no blocks.
import type { JsonObject, JsonValue } from '../../../base/json/index.ts';
import type { FinishEvent } from '../../../canonical/index.ts';
import type { AnswerContext } from '../../protocol.ts';
import type { Emitted } from './finish-reason.ts';
import { encodeStopReason } from './finish-reason.ts';

/** How ids of messages begin: clients sort and check by it (API reference "Create a Message", 2026-11). */
const MESSAGE_PREFIX = 'msg_';
const OWN_ID = /^msg_([0-9a-f]{32})$/;

/**
 * The id of a generation's message. A relayed message has it too: `GET /v1/generation` and threads find the answer by it.
 */
export function messageId(generationId: string): string {
  return MESSAGE_PREFIX + generationId;
}

/** The generation of a message's id; undefined for an id of somebody else's. */
export function generationOf(id: string): string | undefined {
  return OWN_ID.exec(id)?.[1];
}

/**
 * The identity of the answer is the gateway's own: its generation id, and its id of the model that ran. No upstream of
 * another protocol has a container or diagnoses its cache.
 */
export function encodeEnvelope({ id, model }: AnswerContext, content: readonly JsonValue[]): JsonObject {
  return {
    id: messageId(id),
    type: 'message',
    role: 'assistant',
    model,
    content,
    container: null,
    diagnostics: null,
  };
}

/**
 * Why the answer ended: `stop_reason`, `stop_sequence`, `stop_details`.
 * @param refusal the words of a refusal, '' if there were none
 */
export function encodeStop(finish: FinishEvent, emitted: Emitted, refusal: string): JsonObject {
  const reason = encodeStopReason(finish, emitted);
  return {
    stop_reason: reason,
    stop_sequence: reason === 'stop_sequence' ? (finish.stopSequence ?? null) : null,
    stop_details:
      reason === 'refusal'
        ? { type: 'refusal', category: finish.refusalCategory ?? null, explanation: refusal || null }
        : null,
  };
}

/**
 * True where the words of a refusal must be content. Anthropic tells them in `stop_details` alone, never in both places
 * (documentation "Handle streaming refusals", 2026-11); an answer that ended for another reason has none.
 */
export function showsRefusal(finish: FinishEvent, emitted: Emitted): boolean {
  return emitted.refusal && encodeStopReason(finish, emitted) !== 'refusal';
}
