// Question and answer of the simulated model, independent of wire formats. Deliberately separate from the gateway's
// canonical model: a shared one would hide its errors from tests.
import type { JsonObject } from '../src/base/json/index.ts';

export interface SimTool {
  readonly kind: 'function' | 'custom';
  readonly name: string;
  readonly schema: JsonObject;
}

export type SimChoice =
  | { readonly type: 'auto' | 'none' | 'required' }
  | { readonly type: 'tool'; readonly name: string };

/** Input tokens that a prompt cache would read or write. */
export interface CacheCounts {
  readonly read: number;
  readonly write5m: number;
  readonly write1h: number;
}

export interface Question {
  readonly model: string;
  /** 40 hex digits derived from the body. All ids are derived from it. */
  readonly seed: string;
  /** Text of the last user message. */
  readonly userText: string;
  /** Number of user messages, without tool results. */
  readonly turn: number;
  readonly images: number;
  readonly files: number;
  /** Beginning of the answer if the conversation ends with an assistant message, else ''. */
  readonly prefill: string;
  /** Tool results if the conversation ends with them. */
  readonly toolResults: readonly { readonly name: string; readonly text: string }[];
  /** Number of tool results since the last user message. */
  readonly step: number;
  /** Tools that the client runs, without hosted ones. */
  readonly tools: readonly SimTool[];
  readonly choice: SimChoice;
  readonly parallel: boolean;
  /** Null: free text. A null schema: any object. */
  readonly format: { readonly schema: JsonObject | null } | null;
  /** Tokens to spend on reasoning; 0: none. */
  readonly reasoningTokens: number;
  readonly webSearch: boolean;
  readonly stop: readonly string[];
  /** Limit of all output tokens; null: none. */
  readonly maxTokens: number | null;
  /** All input tokens, including cached ones. */
  readonly inputTokens: number;
  readonly cache: CacheCounts;
}

export interface Citation {
  readonly url: string;
  readonly title: string;
  /** Text of the page that supports the sentence. */
  readonly quote: string;
}

/** A span of text with or without a citation. */
export interface Segment {
  readonly text: string;
  readonly citation?: Citation;
}

export interface SimCall {
  readonly kind: 'function' | 'custom';
  readonly name: string;
  /** JSON, or the free-form input of a custom tool. */
  readonly arguments: string;
}

export type SimFinish = 'stop' | 'stop_sequence' | 'length' | 'tool_calls' | 'content_filter' | 'refusal';

export interface SimAnswer {
  /** Null: the model did not reason. */
  readonly reasoning: { readonly text: string; readonly redacted: boolean } | null;
  readonly search: { readonly query: string; readonly results: readonly Citation[] } | null;
  readonly segments: readonly Segment[];
  /** True: the text is a refusal. */
  readonly refusal: boolean;
  readonly calls: readonly SimCall[];
  readonly finish: SimFinish;
  readonly stopSequence: string | null;
  /** Output tokens without reasoning. */
  readonly textTokens: number;
  readonly reasoningTokens: number;
}

/** Complete text of an answer. */
export function answerText(answer: SimAnswer): string {
  let text = '';
  for (const segment of answer.segments) text += segment.text;
  return text;
}
