// Recognizes refusals by the server's message, for all protocols: a prompt that is too long, a request that the server
// cannot serve, an unknown model.
import type { JsonObject } from '../../base/json/index.ts';
import type { ContextRefusal, ErrorKind } from '../../canonical/index.ts';
import { statedCount } from '../usage/token-count.ts';

/** Codes and types that mean that the prompt is too long, with any status. */
const CONTEXT_CODES: ReadonlySet<string> = new Set([
  'context_length_exceeded',
  'context_window_exceeded',
  'too_many_prompt_tokens',
  'string_above_max_length',
  // llama-server 0.10434.0 (measured 2026-11-24).
  'exceed_context_size_error',
]);

/**
 * Messages for a prompt that is too long, from OpenAI, DeepSeek, OpenRouter, Ollama, Perplexity, Groq, Mistral,
 * llama.cpp, vLLM, xAI, Anthropic, AWS and Google, in this order.
 */
const CONTEXT_WORDS: readonly RegExp[] = [
  /maximum context length/,
  /max context length/,
  /context (?:window|length|limit)/,
  /total length of all messages is too long/,
  /reduce the length of the messages/,
  /too many (?:input )?tokens/,
  /too large for model with/,
  /exceeds? (?:the |this )?(?:available |model'?s? )?(?:maximum )?context/,
  /maximum model length/,
  /maximum prompt length/,
  /(?:prompt|input) (?:is )?too long/,
  /input tokens exceeded/,
  /token count[^.]*exceeds the maximum number of tokens/,
];
/** The same for servers that report it as an internal error, with status 500. */
const CERTAIN_CONTEXT_WORDS = /exceeds? the (?:available )?context (?:size|length)/;

/**
 * Messages of llama-server, Ollama, LM Studio and vLLM for requests that this server can never serve. llama-server
 * sends them with 500 and 501 (measured 2026-11-24).
 */
const CANNOT_SERVE: readonly RegExp[] = [
  /\b(?:image|audio|video|vision|multimodal) inputs? (?:is|are) not supported/,
  /\bdoes not support (?:images?|audio|video|vision|multimodal|tools|thinking|chat|generate|embeddings?|completions?)\b/,
  /\bis not a multimodal model\b/,
  /\bmissing data required for image input\b/,
  /\bat most \d+ (?:image|audio|video)\(s\) may be provided\b/,
  /\bincrease the physical batch size\b/,
];

/** llama-server's router and LiteLLM's proxy refuse an unknown model with 400 (measured 2026-11-24). */
const UNKNOWN_MODEL = /\bmodel ['"`][^'"`]{1,200}['"`] (?:was )?not found\b|\binvalid model name passed\b/;

/** Texts of a refusal. Absent: the server sent none. */
export interface RefusalWords {
  readonly message?: string | undefined;
  readonly code?: string | undefined;
  readonly type?: string | undefined;
}

/** Returns the kind of a refusal according to its message, or the given kind. @param kind by status, code or type */
export function kindByWords(
  kind: ErrorKind,
  { message = '', code = '', type = '' }: RefusalWords,
): ErrorKind {
  const isRequests = kind === 'invalid_request' || kind === 'too_large';
  if (!isRequests && kind !== 'upstream_unavailable' && kind !== 'unsupported') return kind;
  if (CONTEXT_CODES.has(code) || CONTEXT_CODES.has(type)) return 'context_overflow';
  const text = message.toLowerCase();
  const says = (patterns: readonly RegExp[]): boolean => patterns.some((pattern) => pattern.test(text));
  if (isRequests ? says(CONTEXT_WORDS) : CERTAIN_CONTEXT_WORDS.test(text)) return 'context_overflow';
  if (type === 'not_supported_error' || says(CANNOT_SERVE)) return 'unsupported';
  return kind === 'invalid_request' && UNKNOWN_MODEL.test(text) ? 'not_found' : kind;
}

/** Returns the limit that a refusal names in members of its own (llama.cpp); undefined if there is none. */
export function contextRefusal(error: JsonObject): ContextRefusal | undefined {
  const limit = statedCount(error['n_ctx']);
  const prompt = statedCount(error['n_prompt_tokens']);
  return limit === undefined && prompt === undefined ? undefined : { limit, prompt };
}
