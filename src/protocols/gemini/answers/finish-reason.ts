// The words with which Gemini says why it stopped, in both directions. The only place that knows them.
import type { FinishReason } from '../../../canonical/index.ts';
import type { WireFinishReason } from '../wire-types.ts';

/**
 * Words of the API reference, `FinishReason` (2026-11). `failure`: the answer broke off by the model's own fault and
 * must not look complete. Words after the SDK's own come from the reference alone.
 */
const REASONS: Readonly<Record<WireFinishReason | LaterWord, FinishReason | 'failure'>> = {
  FINISH_REASON_UNSPECIFIED: 'unknown',
  STOP: 'stop',
  MAX_TOKENS: 'length',
  CONTINUATION: 'pause',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  LANGUAGE: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
  IMAGE_PROHIBITED_CONTENT: 'content_filter',
  IMAGE_RECITATION: 'content_filter',
  MODEL_ARMOR: 'content_filter',
  OTHER: 'unknown',
  NO_IMAGE: 'unknown',
  IMAGE_OTHER: 'unknown',
  // The call that was not expected is in the answer (recorded 2026-06): the client decides what it makes of it.
  UNEXPECTED_TOOL_CALL: 'stop',
  // Answers with these reasons are empty: an empty end would look like an answer, and another try usually succeeds.
  MALFORMED_FUNCTION_CALL: 'failure',
  TOO_MANY_TOOL_CALLS: 'failure',
  MISSING_THOUGHT_SIGNATURE: 'failure',
  MALFORMED_RESPONSE: 'failure',
};
type LaterWord = 'MODEL_ARMOR' | 'MISSING_THOUGHT_SIGNATURE' | 'MALFORMED_RESPONSE';

/**
 * The canonical reason of a word, `failure` for one that reports a broken answer. Gemini says `STOP` also when it calls
 * a function, and often in a later chunk than the call: what was emitted decides.
 * @param hasCalls true when the answer has calls for the client
 */
export function decodeFinishReason(word: string, hasCalls: boolean): FinishReason | 'failure' {
  const reason = isKnown(word) ? REASONS[word] : 'unknown';
  return reason === 'stop' && hasCalls ? 'tool_calls' : reason;
}

/**
 * The word for a client: Gemini's own where the upstream said it, else the nearest.
 * @param raw the upstream's word
 * @param hasRefusal true when the client has seen the words of a refusal: Chat Completions stops after them as after others
 */
export function encodeFinishReason(
  reason: FinishReason,
  raw: string | undefined,
  hasRefusal: boolean,
): WireFinishReason | LaterWord {
  if (raw !== undefined && isKnown(raw) && decodeFinishReason(raw, reason === 'tool_calls') === reason)
    return raw;
  switch (reason) {
    case 'stop':
      return hasRefusal ? 'SAFETY' : 'STOP';
    case 'stop_sequence':
    case 'tool_calls':
    case 'pause':
      return 'STOP';
    case 'length':
      return 'MAX_TOKENS';
    case 'content_filter':
    case 'refusal':
      return 'SAFETY';
    case 'unknown':
      // A server that ends its answer without a word has nothing to warn of; Google's clients take OTHER for a fault.
      return raw ? 'OTHER' : 'STOP';
  }
}

function isKnown(word: string): word is keyof typeof REASONS {
  return Object.hasOwn(REASONS, word);
}
