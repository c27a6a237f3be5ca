// The word for why an answer ended. The only place that chooses it: it follows from what was sent to the
// client, not from what the upstream called it.
import type { FinishReason } from '../../canonical/index.ts';

export type ChatFinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** Content that the client has been sent. */
export interface Emitted {
  readonly toolCalls: number;
  /** True when text of a refusal was sent in the member `refusal`. */
  readonly refusal: boolean;
}

/**
 * Chooses `finish_reason`. Agents run tools if and only if it says so: a turn with calls never ends in `stop`,
 * and one without never in `tool_calls`. A refusal without words of its own is what OpenAI reports as
 * `content_filter`.
 */
export function encodeFinishReason(reason: FinishReason, emitted: Emitted): ChatFinishReason {
  if (reason === 'length' || reason === 'content_filter') return reason;
  if (reason === 'refusal' && !emitted.refusal) return 'content_filter';
  return emitted.toolCalls > 0 ? 'tool_calls' : 'stop';
}
