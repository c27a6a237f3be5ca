// `stopReason` into the canonical reason. Knows nothing of blocks.
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
/** The model wrote what nobody can read: no answer, but another try may bring one. */
const MALFORMED: ReadonlySet<string> = new Set(['malformed_model_output', 'malformed_tool_use']);

/** The reason that a word stands for; `unknown` for a word that no documentation knows. */
export function decodeStopReason(word: string): FinishReason {
  return STOP_REASONS.get(word) ?? 'unknown';
}

/** The error that a word stands for; undefined for the end of an answer. */
export function malformedAnswer(word: string): GatewayError | undefined {
  return MALFORMED.has(word)
    ? new GatewayError('upstream_unavailable', `the model's output was unreadable (${word})`)
    : undefined;
}
