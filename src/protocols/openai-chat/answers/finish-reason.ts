// Converts finish reasons, in both directions.
import type { JsonValue } from '../../../base/json/index.ts';
import type { FinishReason } from '../../../canonical/index.ts';

/**
 * OpenAI's five finish reasons, and equivalents of other servers: Together and HuggingFace (`eos`, `eos_token`),
 * Mistral (`model_length`), Z.ai (`sensitive`), and bridges that keep Anthropic's or Google's words. Found in
 * recordings or in the vendors' API references, 2026-08.
 */
const REASONS: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>(
  Object.entries({
    stop: 'stop',
    eos: 'stop',
    eos_token: 'stop',
    end_turn: 'stop',
    complete: 'stop',
    completed: 'stop',
    stop_sequence: 'stop_sequence',
    length: 'length',
    max_tokens: 'length',
    max_output_tokens: 'length',
    model_length: 'length',
    model_context_window_exceeded: 'length',
    tool_calls: 'tool_calls',
    function_call: 'tool_calls',
    tool_use: 'tool_calls',
    content_filter: 'content_filter',
    sensitive: 'content_filter',
    safety: 'content_filter',
    refusal: 'refusal',
    pause_turn: 'pause',
  } satisfies Record<string, FinishReason>),
);

/**
 * Finish reasons for an answer that broke off through the upstream's fault: OpenRouter (`error`), DeepSeek
 * (`insufficient_system_resource`), Z.ai (`network_error`). Such an answer must not look complete.
 */
const FAILURES: ReadonlySet<string> = new Set(['error', 'insufficient_system_resource', 'network_error']);

/** Returns the canonical finish reason; `unknown` for an undocumented one. */
export function decodeFinishReason(word: string): FinishReason {
  return REASONS.get(word) ?? REASONS.get(word.toLowerCase()) ?? 'unknown';
}

/**
 * Returns the stop sequence that ended an answer. vLLM sends it in `stop_reason` (documentation "OpenAI-Compatible
 * Server", 2026-08). Numbers there are token ids, and some bridges repeat the finish reason; both are ignored.
 */
export function decodeStopSequence(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return decodeFinishReason(value) === 'unknown' ? value : undefined;
}

/** True for a finish reason that reports a failure. */
export function isFailureReason(word: string): boolean {
  return FAILURES.has(word);
}

// Encoding of the finish reason. It depends on what was sent to the client, not on the upstream's word.

export type ChatFinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** Content that was sent to the client. */
export interface Emitted {
  readonly toolCalls: number;
  /** True if text was sent in the member `refusal`. */
  readonly refusal: boolean;
}

/**
 * Returns `finish_reason`. Agents run tools if and only if it is `tool_calls`: a turn with calls never ends in `stop`,
 * and one without never in `tool_calls`. OpenAI reports a refusal without text as `content_filter`. `length` is the only
 * word for another answer that is not complete.
 */
export function encodeFinishReason(reason: FinishReason, emitted: Emitted): ChatFinishReason {
  if (reason === 'length' || reason === 'content_filter') return reason;
  if (reason === 'incomplete') return 'length';
  if (reason === 'refusal' && !emitted.refusal) return 'content_filter';
  return emitted.toolCalls > 0 ? 'tool_calls' : 'stop';
}
