// Question and answer of the simulated brain: the common ground of the wire formats. Separate from the gateway's
// canonical model on purpose: a test double that shared it would share its mistakes.
import type { JsonObject } from '../src/base/json/index.ts';

export interface SimTool {
  readonly kind: 'function' | 'custom';
  readonly name: string;
  readonly schema: JsonObject;
}

export type SimChoice =
  | { readonly type: 'auto' | 'none' | 'required' }
  | { readonly type: 'tool'; readonly name: string };

/** Input tokens that a prompt cache would have read or written. */
export interface CacheCounts {
  readonly read: number;
  readonly write5m: number;
  readonly write1h: number;
}

export interface Question {
  readonly model: string;
  /** 40 hex digits that depend on the body alone: the source of every id. */
  readonly seed: string;
  /** Text of the last user message. */
  readonly userText: string;
  /** How many user messages there are, results of tools not counted. */
  readonly turn: number;
  readonly images: number;
  readonly files: number;
  /** Beginning of the answer, when the conversation ends with a message of the assistant; '' when it does not. */
  readonly prefill: string;
  /** Results of tools, when the conversation ends with them. */
  readonly toolResults: readonly { readonly name: string; readonly text: string }[];
  /** How many results of tools there are since the last user message. */
  readonly step: number;
  /** Tools that the client would run; hosted ones are not among them. */
  readonly tools: readonly SimTool[];
  readonly choice: SimChoice;
  readonly parallel: boolean;
  /** Null: free text. A null schema means any object. */
  readonly format: { readonly schema: JsonObject | null } | null;
  /** Tokens to spend on reasoning; 0 when it is off. */
  readonly reasoningTokens: number;
  readonly webSearch: boolean;
  readonly stop: readonly string[];
  /** Limit of all output tokens; null when there is none. */
  readonly maxTokens: number | null;
  /** All input tokens, cached ones included. */
  readonly inputTokens: number;
  readonly cache: CacheCounts;
}

export interface Citation {
  readonly url: string;
  readonly title: string;
  /** Words of the page that support the sentence. */
  readonly quote: string;
}

/** A stretch of text, cited or not. */
export interface Segment {
  readonly text: string;
  readonly citation?: Citation;
}

export interface SimCall {
  readonly kind: 'function' | 'custom';
  readonly name: string;
  /** JSON text, or the free-form input of a custom tool. */
  readonly arguments: string;
}

export type SimFinish = 'stop' | 'stop_sequence' | 'length' | 'tool_calls' | 'content_filter' | 'refusal';

export interface SimAnswer {
  /** Null when the model did not reason. */
  readonly reasoning: { readonly text: string; readonly redacted: boolean } | null;
  readonly search: { readonly query: string; readonly results: readonly Citation[] } | null;
  readonly segments: readonly Segment[];
  /** True: the text is a refusal. */
  readonly refusal: boolean;
  readonly calls: readonly SimCall[];
  readonly finish: SimFinish;
  readonly stopSequence: string | null;
  /** Output tokens that are not reasoning. */
  readonly textTokens: number;
  readonly reasoningTokens: number;
}

/** The whole text of an answer. */
export function answerText(answer: SimAnswer): string {
  let text = '';
  for (const segment of answer.segments) text += segment.text;
  return text;
}
