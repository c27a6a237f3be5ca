// The shapes that Chat Completions servers send, as loosely as they send them: OpenAI's own member names, the
// extensions of compatible servers, and no promise about the type of any value. Types only.
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionMessage,
} from 'openai/resources/chat/completions';
import type { JsonObject, JsonValue } from '../../base/json/index.ts';

/** The members of a documented type, each of which may be absent or of a foreign type. */
type Untrusted<T> = { readonly [Key in keyof T]?: JsonValue | undefined };

/** A chunk of a stream, or a whole completion. */
export interface WireCompletion
  extends Untrusted<ChatCompletion>, Untrusted<ChatCompletionChunk>, JsonObject {
  readonly error?: JsonValue | undefined;
  /** Groq's place for the usage of a stream. */
  readonly x_groq?: JsonValue | undefined;
  /** Perplexity: what the answer was taken from. */
  readonly citations?: JsonValue | undefined;
  readonly search_results?: JsonValue | undefined;
}

export interface WireChoice
  extends Untrusted<ChatCompletion.Choice>, Untrusted<ChatCompletionChunk.Choice>, JsonObject {
  /** vLLM: the stop string (or token id) that was met. */
  readonly stop_reason?: JsonValue | undefined;
  /** Moonshot, formerly: usage inside the choice. */
  readonly usage?: JsonValue | undefined;
  /** OpenAI's vision preview of 2023, in place of `finish_reason`. */
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
