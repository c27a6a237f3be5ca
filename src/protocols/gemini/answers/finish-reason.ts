// Converts Gemini's finish reasons, in both directions.
import type { FinishReason } from '../../../canonical/index.ts';
import type { WireFinishReason } from '../wire-types.ts';

/**
 * Values of the API reference, `FinishReason` (2026-11). `failure`: the model broke off and the answer must not look
 * complete. `LaterWord` are values that are in the reference, but not in the SDK.
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
  // The unexpected call is in the answer (recorded 2026-06), so the client decides what to do with it.
  UNEXPECTED_TOOL_CALL: 'stop',
  // Answers with these reasons are empty. They must not look like answers, and a retry usually succeeds.
  MALFORMED_FUNCTION_CALL: 'failure',
  TOO_MANY_TOOL_CALLS: 'failure',
  MISSING_THOUGHT_SIGNATURE: 'failure',
  MALFORMED_RESPONSE: 'failure',
};
type LaterWord = 'MODEL_ARMOR' | 'MISSING_THOUGHT_SIGNATURE' | 'MALFORMED_RESPONSE';

/**
 * Returns the canonical reason; `failure` for a broken answer. Gemini also sends `STOP` when it calls a function, often
 * in a chunk after the call, so the emitted calls decide.
 * @param hasCalls true if the answer has calls for the client
 */
export function decodeFinishReason(word: string, hasCalls: boolean): FinishReason | 'failure' {
  const reason = isKnown(word) ? REASONS[word] : 'unknown';
  return reason === 'stop' && hasCalls ? 'tool_calls' : reason;
}

/**
 * Returns the finish reason for a client: Gemini's own if the upstream sent one, otherwise the nearest.
 * @param raw the upstream's finish reason
 * @param hasRefusal true if the client has received a refusal's text, which Chat Completions ends like other text
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
    case 'incomplete':
      return 'MAX_TOKENS';
    case 'content_filter':
    case 'refusal':
      return 'SAFETY';
    case 'unknown':
      // A missing finish reason is not an error, but Google's clients treat OTHER as one.
      return raw ? 'OTHER' : 'STOP';
  }
}

function isKnown(word: string): word is keyof typeof REASONS {
  return Object.hasOwn(REASONS, word);
}
