// Converts `stopReason` to the canonical reason.
import type { FinishReason } from '../../../canonical/index.ts';
import { GatewayError } from '../../../canonical/index.ts';

/** API reference "Converse", `stopReason` (2026-11). */
const STOP_REASONS: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ['end_turn', 'stop'],
  ['tool_use', 'tool_calls'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['stop_sequence', 'stop_sequence'],
  ['guardrail_intervened', 'content_filter'],
  ['content_filtered', 'content_filter'],
]);
/** Stop reasons for malformed output. It is not an answer, but a retry may succeed. */
const MALFORMED: ReadonlySet<string> = new Set(['malformed_model_output', 'malformed_tool_use']);

/** Returns the canonical reason; `unknown` for an undocumented value. */
export function decodeStopReason(word: string): FinishReason {
  return STOP_REASONS.get(word) ?? 'unknown';
}

/** Returns the error for a stop reason; undefined if the answer ended properly. */
export function malformedAnswer(word: string): GatewayError | undefined {
  return MALFORMED.has(word)
    ? new GatewayError('upstream_unavailable', `the model's output was invalid (${word})`)
    : undefined;
}
