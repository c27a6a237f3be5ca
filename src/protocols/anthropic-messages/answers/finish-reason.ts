// `stop_reason` in both directions: the upstream's word into the canonical reason, and the word for a client. Knows
// nothing of blocks.
import type { FinishEvent, FinishReason } from '../../../canonical/index.ts';
import type { WireStopReason } from '../wire-types.ts';

const STOP_REASONS: Readonly<Record<WireStopReason, FinishReason>> = {
  end_turn: 'stop',
  max_tokens: 'length',
  stop_sequence: 'stop_sequence',
  tool_use: 'tool_calls',
  pause_turn: 'pause',
  refusal: 'refusal',
  model_context_window_exceeded: 'length',
};

/** The reason that a word stands for; `unknown` for a word that no documentation knows, or none. */
export function decodeStopReason(word: string | undefined): FinishReason {
  return word !== undefined && Object.hasOwn(STOP_REASONS, word)
    ? STOP_REASONS[word as WireStopReason]
    : 'unknown';
}

/** Content that the client was sent, which decides where the upstream's own word would mislead it. */
export interface Emitted {
  readonly toolCalls: number;
  readonly refusal: boolean;
}

/** The word for a client: derived from what was sent, so that a call is never followed by `end_turn`. */
export function encodeStopReason(finish: FinishEvent, emitted: Emitted): WireStopReason {
  switch (finish.reason) {
    case 'length':
      return finish.raw === 'model_context_window_exceeded' ? finish.raw : 'max_tokens';
    case 'content_filter':
    case 'refusal':
      return 'refusal';
    case 'pause':
      return 'pause_turn';
    case 'stop_sequence':
    case 'stop':
    case 'tool_calls':
    case 'unknown':
      if (emitted.toolCalls > 0) return 'tool_use';
      if (emitted.refusal) return 'refusal';
      return finish.reason === 'stop_sequence' ? 'stop_sequence' : 'end_turn';
  }
}
