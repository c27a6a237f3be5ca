// Meaning of a tool that a client expects others to run, in no protocol's words: so that the gateway can run it where
// the upstream does not.
import type { JsonObject } from '../base/json/index.ts';

/** A search of the web. */
export interface SearchWish {
  /** How much of what is found the model shall read: `low`, `medium`, `high`. */
  readonly contextSize?: string | undefined;
  /** `{city, country, region, timezone}`, flat. */
  readonly userLocation?: JsonObject | undefined;
  /** Hosts whose pages may be found, subdomains included; empty: all. */
  readonly allowedDomains: readonly string[];
  readonly blockedDomains: readonly string[];
  /** Most searches in one answer. */
  readonly maxUses?: number | undefined;
}

/** Some of the tools of an MCP server. */
export interface McpFilter {
  readonly names?: readonly string[] | undefined;
  /** All but these. */
  readonly except?: readonly string[] | undefined;
  /** Only those that their server marks as reading only, or only the others. */
  readonly readOnly?: boolean | undefined;
}

/** Which calls a person must allow first. */
export type McpApproval =
  | 'always'
  | 'never'
  | { readonly always: McpFilter | null; readonly never: McpFilter | null };

/** A remote MCP server whose tools the model may call. */
export interface McpWish {
  /** Names the server in items, and a configured one by itself. */
  readonly label: string;
  /** Absent for a server that the operator configured. */
  readonly url?: string | undefined;
  readonly description?: string | undefined;
  /** A token for the server. A secret: never kept, logged or repeated. */
  readonly authorization?: string | undefined;
  /** Secrets as well. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** null: all. */
  readonly allowed: McpFilter | null;
  /** Name of the member of the body that tells of the server, where that is not the tool itself. */
  readonly member?: string | undefined;
  /** undefined: the client said nothing. */
  readonly approval: McpApproval | undefined;
}

/** Work of a hosted tool, where the gateway could do it as well. */
export type HostedMeaning =
  | { readonly type: 'web_search'; readonly search: SearchWish }
  | { readonly type: 'mcp'; readonly mcp: McpWish };

/** A tool that a choice among hosted tools names. Without a name, an MCP server stands for all of its tools. */
export type ChosenTool =
  | { readonly type: 'web_search' }
  | { readonly type: 'mcp'; readonly label: string; readonly name?: string | undefined }
  /** A function or a custom tool of the client. */
  | { readonly type: 'named'; readonly name: string };

/** Meaning of a choice among hosted tools, as far as the gateway knows the tools: never empty. */
export interface ChosenTools {
  readonly mode: 'auto' | 'required';
  readonly tools: readonly ChosenTool[];
}
