// Facts of the work of hosted tools, in no protocol's words. Codecs render them in theirs; the gateway's own tools
// know no other form.
import type { JsonObject } from '../base/json/index.ts';

/** A page that a search found. */
export interface FoundPage {
  readonly url: string;
  readonly title?: string | undefined;
  /** Text that the model read of it, where that is known. */
  readonly text?: string | undefined;
  /** When it was published, in the words of whoever found it: a date, or `2 days ago`. */
  readonly age?: string | undefined;
}

/**
 * Facts of the work of a hosted tool. Protocols that tell a call and its result apart have an item for each: the
 * result repeats its half. A search without a query is such a result.
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
  /** A picture that was made. Its bytes are base64 without the `data:` prefix. */
  | {
      readonly type: 'image';
      readonly data: string;
      readonly mediaType?: string | undefined;
      /** Prompt that the drawing model got, where it differs from the client's. */
      readonly revisedPrompt?: string | undefined;
    };

/** A page that the model opened, or looked for words in. */
export interface PageFacts {
  readonly type: 'web_page';
  readonly url: string;
  /** The words; absent: the page was opened. */
  readonly pattern?: string | undefined;
  /** True once it is over. */
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
  /** JSON text as the model wrote it, perhaps malformed; absent where only `input` is known. */
  readonly arguments?: string | undefined;
  /** Id of the question to a person that allowed the call. */
  readonly questionId?: string | undefined;
  readonly output?: string | undefined;
  readonly isError?: boolean | undefined;
  /** Why there is no result, or the texts in which the tool itself told of its failure. */
  readonly failure?: { readonly message: string } | { readonly texts: readonly string[] } | undefined;
  /** True for a call that was never made, because its answer was cut short. */
  readonly isCut?: boolean | undefined;
}

/** Tools that an MCP server offers. */
export interface McpToolsFacts {
  readonly type: 'mcp_tools';
  readonly server: string;
  readonly tools: readonly McpOffer[];
  /** Why the server could not be asked. */
  readonly error?: string | undefined;
}

export interface McpOffer {
  readonly name: string;
  readonly description: string | null;
  readonly inputSchema: JsonObject;
  readonly annotations: JsonObject | null;
}

/** A question to a person: whether a tool may be called. */
export interface McpQuestionFacts {
  readonly type: 'mcp_question';
  readonly server: string;
  readonly name: string;
  /** JSON text as the model wrote it. */
  readonly arguments: string;
}

/** Decision of the person who was asked. */
export interface McpAnswerFacts {
  readonly type: 'mcp_answer';
  readonly questionId: string;
  readonly isAllowed: boolean;
  readonly reason?: string | undefined;
}

/** Work of any other tool that the gateway runs: told in every protocol that has items for the work of tools. */
export interface ToolFacts {
  readonly type: 'tool';
  readonly name: string;
  readonly input: JsonObject;
  readonly output?: string | undefined;
  readonly isError?: boolean | undefined;
}
