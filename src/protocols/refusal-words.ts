// Refusals in the words of servers, whatever their protocol: a prompt that is too long, a request that the server cannot
// serve at all, a model that it does not have. The only list of them; each decoder of errors asks here.
import type { JsonObject } from '../base/json/index.ts';
import type { ContextRefusal, ErrorKind } from '../canonical/index.ts';
import { statedCount } from './token-count.ts';

/** Codes and types that mean a prompt which is too long, with every status. */
const CONTEXT_CODES: ReadonlySet<string> = new Set([
  'context_length_exceeded',
  'context_window_exceeded',
  'too_many_prompt_tokens',
  'string_above_max_length',
  // llama-server 0.10434.0 (measured 2026-11-24).
  'exceed_context_size_error',
]);

/**
 * A prompt that is too long: OpenAI, DeepSeek, OpenRouter, Ollama, Perplexity, Groq, Mistral, llama.cpp, vLLM, xAI,
 * Anthropic, AWS and Google, in this order.
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
/** The same where the server takes the mistake for its own and answers with 500. */
const CERTAIN_CONTEXT_WORDS = /exceeds? the (?:available )?context (?:size|length)/;

/**
 * Requests that this server can never serve, as llama-server, Ollama, LM Studio and vLLM say so. llama-server does it with
 * 500 and 501 (measured 2026-11-24).
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

/** Words of a refusal; absent where the server has none. */
export interface RefusalWords {
  readonly message?: string | undefined;
  readonly code?: string | undefined;
  readonly type?: string | undefined;
}

/**
 * The kind of a refusal by its words; the given one where they say nothing more.
 * @param kind by status, code or type
 */
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

/** The limit that a refusal names in members of its own (llama.cpp); undefined where it has none. */
export function contextRefusal(error: JsonObject): ContextRefusal | undefined {
  const limit = statedCount(error['n_ctx']);
  const prompt = statedCount(error['n_prompt_tokens']);
  return limit === undefined && prompt === undefined ? undefined : { limit, prompt };
}
