// Opens the gateway tools once per configuration: search engine, page reader, MCP servers.
import type { Config } from '../../config/index.ts';
import { pdfText } from '../../../engine/documents/pdf-text.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import type { AvailableTools } from '../../../engine/tools/available-tools.ts';
import type { ToolKind } from '../../../engine/tools/gateway-tool.ts';
import { type ConfiguredMcpServer, mcpKind } from '../../../engine/tools/mcp-kind.ts';
import { operatorHosts } from '../../../engine/tools/mcp/operator-hosts.ts';
import { McpSessions, type McpServer, type McpSession } from '../../../engine/tools/mcp/session.ts';
import { PageReader } from '../../../engine/tools/pages/read-page.ts';
import { openSearchBackend, searchHost } from '../../../engine/tools/web-search/index.ts';
import { webSearchKind } from '../../../engine/tools/web-search-kind.ts';
import { GuardedFetch, type GuardedFetchOptions } from '../../../upstream/fetch-guarded.ts';

/** Timeout of name resolution. */
const CHECK_MS = 10_000;

export interface ToolParts extends Omit<GuardedFetchOptions, 'allow'> {
  readonly clock: Clock;
  /** Fetches addresses from requests, including pages. */
  readonly fetch: GuardedFetch;
  /** The current configuration. */
  readonly config: () => Config;
}

/** Opens a kind of tool. Null: not configured. */
export type ToolOpener = (config: Config, parts: ToolParts) => ToolKind | null;

/** All kinds of tools that the gateway runs. */
export const TOOL_KINDS: ToolOpener[] = [openSearch, openMcp];

/** @returns the available tools; the same object until the configuration changes */
export function openTools(parts: ToolParts): () => AvailableTools {
  let opened: { readonly config: Config; readonly tools: AvailableTools } | undefined;
  return () => {
    const config = parts.config();
    if (opened?.config !== config)
      opened = { config, tools: TOOL_KINDS.flatMap((open) => open(config, parts) ?? []) };
    return opened.tools;
  };
}

function openSearch({ tools: { webSearch } }: Config, parts: ToolParts): ToolKind | null {
  const { backend, native, pages, priceUsdPerSearch } = webSearch;
  if (backend === null) return null;
  const settings = { ...webSearch, backend };
  const host = searchHost(settings);
  return webSearchKind({
    backend: openSearchBackend(settings, new GuardedFetch({ ...parts, allow: () => [host] })),
    native,
    pages: pages ? new PageReader({ fetch: parts.fetch, timeoutMs: webSearch.timeoutMs, readPdf }) : null,
    priceUsd: priceUsdPerSearch,
  });
}

/** The text of all pages of a PDF. */
async function readPdf(bytes: Uint8Array, signal: AbortSignal): Promise<string> {
  return (await pdfText(bytes, signal)).join('\n\n');
}

function openMcp({ tools: { mcp } }: Config, parts: ToolParts): ToolKind {
  const servers = new Map<string, ConfiguredMcpServer>();
  for (const [label, { url, headers, oauth, allowedTools, requireApproval }] of Object.entries(mcp.servers))
    servers.set(label, {
      server: { label, url, headers, trusted: true, ...(oauth && { oauth }) },
      allowed: allowedTools && { names: allowedTools },
      approval: requireApproval ?? undefined,
    });
  const hosts = operatorHosts([...servers.values()].map(({ server }) => server));
  const sessions = new McpSessions({
    fetch: parts.fetch,
    trustedFetch: new GuardedFetch({ ...parts, allow: () => hosts }),
    clock: parts.clock,
    limits: () => ({ ...mcp, hosts: mcp.allow }),
  });
  const { native, fromRequests, onUnlisted, maxTools } = mcp;
  const check = (url: string): Promise<void> => parts.fetch.check(url, CHECK_MS);
  const open = (server: McpServer): McpSession => sessions.open(server);
  return mcpKind({ native, servers, fromRequests, onUnlisted, maxTools, open, check });
}
