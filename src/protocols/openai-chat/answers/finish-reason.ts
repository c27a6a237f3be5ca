// The words for why an answer ended, in both directions. Knows no provider.
import type { JsonValue } from '../../../base/json/index.ts';
import type { FinishReason } from '../../../canonical/index.ts';

/**
 * OpenAI's five words, and foreign ones that pass for them: Together and HuggingFace (`eos`, `eos_token`),
 * Mistral (`model_length`), Z.ai (`sensitive`), and bridges that leave Anthropic's or Google's words as they
 * are. Seen in recordings or in the vendors' API references, 2026-08.
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
 * Words that say the answer broke off through the upstream's fault: OpenRouter (`error`), DeepSeek
 * (`insufficient_system_resource`), Z.ai (`network_error`). Such an answer must not look complete.
 */
const FAILURES: ReadonlySet<string> = new Set(['error', 'insufficient_system_resource', 'network_error']);

/** The canonical reason of a server's word; `unknown` for one that nobody has documented. */
export function decodeFinishReason(word: string): FinishReason {
  return REASONS.get(word) ?? REASONS.get(word.toLowerCase()) ?? 'unknown';
}

/**
 * The stop sequence that ended an answer, which vLLM tells in `stop_reason` beside the finish reason (documentation
 * "OpenAI-Compatible Server", 2026-08); numbers there are tokens, and some bridges repeat the reason.
 */
export function decodeStopSequence(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return decodeFinishReason(value) === 'unknown' ? value : undefined;
}

/** True for a word that reports a failure instead of an end. */
export function isFailureReason(word: string): boolean {
  return FAILURES.has(word);
}

// The word for why an answer ended. The only place that chooses it: it follows from what was sent to the
// client, not from what the upstream called it.

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
