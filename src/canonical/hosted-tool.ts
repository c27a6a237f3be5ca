// Hosted tools independent of any protocol, so that the gateway can run them if the upstream does not.
import type { JsonObject } from '../base/json/index.ts';

/** Settings of web search. */
export interface SearchWish {
  /** Amount of search results for the model: `low`, `medium`, `high`. */
  readonly contextSize?: string | undefined;
  /** `{city, country, region, timezone}`, flat. */
  readonly userLocation?: JsonObject | undefined;
  /** Allowed hosts, subdomains included; empty: all. */
  readonly allowedDomains: readonly string[];
  readonly blockedDomains: readonly string[];
  /** Maximum number of searches in one answer. */
  readonly maxUses?: number | undefined;
}

/** Some of the tools of an MCP server. */
export interface McpFilter {
  readonly names?: readonly string[] | undefined;
  /** Excluded tools. */
  readonly except?: readonly string[] | undefined;
  /** True: only tools that their server marks as read-only. False: only the others. */
  readonly readOnly?: boolean | undefined;
}

/** Calls that require a person's approval. */
export type McpApproval =
  | 'always'
  | 'never'
  | { readonly always: McpFilter | null; readonly never: McpFilter | null };

/** A remote MCP server whose tools the model may call. */
export interface McpWish {
  /** Name of the server in items. Identifies a server of the configuration. */
  readonly label: string;
  /** Absent for a server of the configuration. */
  readonly url?: string | undefined;
  readonly description?: string | undefined;
  /** Token for the server. Secret: never stored, logged or returned. */
  readonly authorization?: string | undefined;
  /** Request headers. Secret as well. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Allowed tools; null: all. */
  readonly allowed: McpFilter | null;
  /** Body member that describes the server, if it is not the tool itself. */
  readonly member?: string | undefined;
  /** undefined: not set by the client. */
  readonly approval: McpApproval | undefined;
}

/** Hosted tools that the gateway can run itself. */
export type HostedMeaning =
  | { readonly type: 'web_search'; readonly search: SearchWish }
  | { readonly type: 'mcp'; readonly mcp: McpWish };

/** A tool named in `tool_choice`. An MCP server without a tool name means all of its tools. */
export type ChosenTool =
  | { readonly type: 'web_search' }
  | { readonly type: 'mcp'; readonly label: string; readonly name?: string | undefined }
  /** A function or a custom tool of the client. */
  | { readonly type: 'named'; readonly name: string };

/** A `tool_choice` among hosted tools that the gateway knows. Never empty. */
export interface ChosenTools {
  readonly mode: 'auto' | 'required';
  readonly tools: readonly ChosenTool[];
}
