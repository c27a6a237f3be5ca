// Converts `stop_reason` in both directions.
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

/** Returns the canonical reason; `unknown` for an undocumented or missing one. */
export function decodeStopReason(word: string | undefined): FinishReason {
  return word !== undefined && Object.hasOwn(STOP_REASONS, word)
    ? STOP_REASONS[word as WireStopReason]
    : 'unknown';
}

/** Content that was sent to the client, for cases in which the upstream's own word would be wrong. */
export interface Emitted {
  readonly toolCalls: number;
  readonly refusal: boolean;
}

/** Returns the stop reason for a client. It is derived from what was sent, so a call is never followed by `end_turn`. */
export function encodeStopReason(finish: FinishEvent, emitted: Emitted): WireStopReason {
  switch (finish.reason) {
    case 'length':
      return finish.raw === 'model_context_window_exceeded' ? finish.raw : 'max_tokens';
    case 'incomplete':
      return 'max_tokens';
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
