// The members of a message around its content, alike in a whole answer and in `message_start`. Knows no blocks.
import type { FinishEvent, JsonObject, JsonValue } from '../../canonical/index.ts';
import type { AnswerContext } from '../protocol.ts';
import type { Emitted } from './finish-reason.ts';
import { encodeStopReason } from './finish-reason.ts';

/**
 * The identity of the answer is the gateway's own: its generation id, and its id of the model that ran. No upstream of
 * another protocol has a container or diagnoses its cache.
 */
export function encodeEnvelope({ id, model }: AnswerContext, content: readonly JsonValue[]): JsonObject {
  return { id, type: 'message', role: 'assistant', model, content, container: null, diagnostics: null };
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
