// Types of what Chat Completions servers send: OpenAI's members and the extensions of compatible servers. Values are
// untrusted, so any member can have any type.
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionMessage,
} from 'openai/resources/chat/completions';
import type { JsonObject, JsonValue } from '../../base/json/index.ts';

/** Members of a documented type, each possibly absent or of another type. */
type Untrusted<T> = { readonly [Key in keyof T]?: JsonValue | undefined };

/** A chunk of a stream, or a whole completion. */
export interface WireCompletion
  extends Untrusted<ChatCompletion>, Untrusted<ChatCompletionChunk>, JsonObject {
  readonly error?: JsonValue | undefined;
  /** Groq: usage of a stream. */
  readonly x_groq?: JsonValue | undefined;
  /** Perplexity: sources of the answer. */
  readonly citations?: JsonValue | undefined;
  readonly search_results?: JsonValue | undefined;
}

export interface WireChoice
  extends Untrusted<ChatCompletion.Choice>, Untrusted<ChatCompletionChunk.Choice>, JsonObject {
  /** vLLM: the stop string (or token id) that was matched. */
  readonly stop_reason?: JsonValue | undefined;
  /** Moonshot, formerly: usage inside the choice. */
  readonly usage?: JsonValue | undefined;
  /** OpenAI's vision preview of 2023, instead of `finish_reason`. */
  readonly finish_details?: JsonValue | undefined;
}

/** A delta of a stream, or a whole message. */
export interface WireMessage extends Untrusted<ChatCompletionMessage>, JsonObject {
  /** DeepSeek, Moonshot, Qwen, xAI, vLLM up to 0.10, SGLang. */
  readonly reasoning_content?: JsonValue | undefined;
  /** OpenRouter, Groq, Ollama, newer vLLM. */
  readonly reasoning?: JsonValue | undefined;
  /** OpenRouter, Snowflake. */
  readonly reasoning_details?: JsonValue | undefined;
  /** Google's compatible endpoint. */
  readonly extra_content?: JsonValue | undefined;
  readonly thought_signature?: JsonValue | undefined;
}
