// Wishes of a request about the gateway's own storage and the shape of its answer (Responses API). Only typed wishes:
// `engine/state` decides what is stored, and what an unknown id means.
import type { JsonObject } from '../base/json/index.ts';
import type { Part } from './part.ts';

/** Members of an answer that appear only when `include` asks for them: those of the implemented API, and OpenAI's own beside them. */
export const INCLUDABLE: ReadonlySet<string> = new Set([
  'code_interpreter_call.outputs',
  'computer_call_output.output.image_url',
  'file_search_call.results',
  'message.input_image.image_url',
  'message.output_text.logprobs',
  'reasoning.encrypted_content',
  'web_search_call.action.sources',
  'web_search_call.results',
]);

/** A stored template and what to put into it. */
export interface PromptRequest {
  readonly id: string;
  readonly version?: string | undefined;
  /** By name: a text, or one part (text, image, file). */
  readonly variables: Readonly<Record<string, string | Part>>;
}

/** Every member is as the client sent it; undefined where it said nothing. */
export interface StateRequest {
  /** Never together with `conversationId`. */
  readonly previousResponseId?: string | undefined;
  readonly conversationId?: string | undefined;
  /** The protocol's default: true. */
  readonly store: boolean;
  readonly prompt?: PromptRequest | undefined;
  /** The protocol's default: `disabled`. */
  readonly truncation: 'auto' | 'disabled';
  /** Members of the answer that appear only when they are asked for, e.g. `reasoning.encrypted_content`. */
  readonly include: ReadonlySet<string>;
  /** Most calls of hosted tools in one answer, all tools together. */
  readonly maxToolCalls?: number | undefined;
  readonly safetyIdentifier?: string | undefined;
  readonly promptCacheKey?: string | undefined;
  readonly promptCacheRetention?: string | undefined;
  /** True: the answer is made in the background. */
  readonly background: boolean;
  /** `instructions` as sent: the first item of the request repeats it, and no later turn inherits it. */
  readonly instructions?: string | readonly JsonObject[] | undefined;
}
