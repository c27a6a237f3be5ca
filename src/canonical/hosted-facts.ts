// Results of hosted tools, independent of any protocol. Codecs render them; the gateway's own tools produce only this form.
import type { JsonObject } from '../base/json/index.ts';

/** A page that a search found. */
export interface FoundPage {
  readonly url: string;
  readonly title?: string | undefined;
  /** Text of the page that the model read, if known. */
  readonly text?: string | undefined;
  /** Age as the search engine states it: a date, or `2 days ago`. */
  readonly age?: string | undefined;
}

/**
 * Facts about a call of a hosted tool. Protocols with separate items for a call and its result have one of each; a search
 * without a query is such a result.
 */
export type HostedFacts =
  | {
      readonly type: 'web_search';
      readonly query?: string | undefined;
      readonly pages?: readonly FoundPage[] | undefined;
      readonly isError?: boolean | undefined;
    }
  | PageFacts
  | McpCallFacts
  | McpToolsFacts
  | McpQuestionFacts
  | McpAnswerFacts
  | ToolFacts
  /** A generated image, as base64 without the `data:` prefix. */
  | {
      readonly type: 'image';
      readonly data: string;
      readonly mediaType?: string | undefined;
      /** Prompt that the image model received, if it differs from the client's. */
      readonly revisedPrompt?: string | undefined;
    };

/** A page that the model opened or searched. */
export interface PageFacts {
  readonly type: 'web_page';
  readonly url: string;
  /** Text that was searched for; absent: the page was opened. */
  readonly pattern?: string | undefined;
  /** True once the page was read. */
  readonly isRead?: boolean | undefined;
  readonly isError?: boolean | undefined;
}

/** A call of a tool of an MCP server. */
export interface McpCallFacts {
  readonly type: 'mcp';
  /** Label of the server. */
  readonly server: string;
  readonly name: string;
  readonly input: JsonObject;
  /** JSON text as the model wrote it, possibly malformed; absent if only `input` is known. */
  readonly arguments?: string | undefined;
  /** Id of the approval request for this call. */
  readonly questionId?: string | undefined;
  readonly output?: string | undefined;
  readonly isError?: boolean | undefined;
  /** Reason why there is no result, or the error texts of the tool itself. */
  readonly failure?: { readonly message: string } | { readonly texts: readonly string[] } | undefined;
  /** True for a call that was never made, because the answer was truncated. */
  readonly isCut?: boolean | undefined;
}

/** Tools that an MCP server offers. */
export interface McpToolsFacts {
  readonly type: 'mcp_tools';
  readonly server: string;
  readonly tools: readonly McpOffer[];
  /** Reason why the server could not list its tools. */
  readonly error?: string | undefined;
}

export interface McpOffer {
  readonly name: string;
  readonly description: string | null;
  readonly inputSchema: JsonObject;
  readonly annotations: JsonObject | null;
}

/** Approval request: a person has to allow a tool call. */
export interface McpQuestionFacts {
  readonly type: 'mcp_question';
  readonly server: string;
  readonly name: string;
  /** Arguments as JSON text, as the model wrote it. */
  readonly arguments: string;
}

/** Answer to an approval request. */
export interface McpAnswerFacts {
  readonly type: 'mcp_answer';
  readonly questionId: string;
  readonly isAllowed: boolean;
  readonly reason?: string | undefined;
}

/** Call of any other tool that the gateway runs. Shown in every protocol that has items for hosted tools. */
export interface ToolFacts {
  readonly type: 'tool';
  readonly name: string;
  readonly input: JsonObject;
  readonly output?: string | undefined;
  readonly isError?: boolean | undefined;
}
