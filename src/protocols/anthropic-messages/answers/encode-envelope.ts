// Members of a message around its content, for whole answers and `message_start`.
import type { JsonObject, JsonValue } from '../../../base/json/index.ts';
import type { FinishEvent } from '../../../canonical/index.ts';
import type { AnswerContext } from '../../protocol.ts';
import type { Emitted } from './finish-reason.ts';
import { encodeStopReason } from './finish-reason.ts';

/** Prefix of message ids, by which clients sort and check them (API reference "Create a Message", 2026-11). */
const MESSAGE_PREFIX = 'msg_';
const OWN_ID = /^msg_([0-9a-f]{32})$/;

/**
 * Returns the message id of a generation. Relayed messages have it too, because `GET /v1/generation` and threads find
 * the answer by it.
 */
export function messageId(generationId: string): string {
  return MESSAGE_PREFIX + generationId;
}

/** Returns the generation of a message id; undefined for an id from elsewhere. */
export function generationOf(id: string): string | undefined {
  return OWN_ID.exec(id)?.[1];
}

/**
 * Encodes the envelope with the gateway's own generation id and model id. Container and cache diagnostics are null,
 * because upstreams of other protocols have none.
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

/** Encodes `stop_reason`, `stop_sequence` and `stop_details`. @param refusal text of a refusal; '' if there was none */
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
 * True if the text of a refusal must be content. Anthropic sends it only in `stop_details`, never in both
 * (documentation "Handle streaming refusals", 2026-11). An answer that ended for another reason has no `stop_details`.
 */
export function showsRefusal(finish: FinishEvent, emitted: Emitted): boolean {
  return emitted.refusal && encodeStopReason(finish, emitted) !== 'refusal';
}
