// What the gateway can run for models under the current configuration. Composed once per configuration.
import type { McpApproval, McpFilter } from '../canonical/index.ts';
import type { McpServer, McpSession } from './mcp/session.ts';
import type { PageReader } from './pages/read-page.ts';
import type { SearchBackend } from './web-search/index.ts';

/** Whether an upstream that has a tool itself may run it. */
export type Native = 'prefer' | 'never';

export interface AvailableTools {
  /** null: no engine is configured. */
  readonly search: SearchSource | null;
  readonly mcp: McpSource;
}

export interface SearchSource {
  readonly backend: SearchBackend;
  readonly native: Native;
  /** null: pages may not be opened. */
  readonly pages: PageReader | null;
  /** USD for one search; null when unknown. */
  readonly priceUsd: number | null;
}

export interface McpSource {
  readonly native: Native;
  /** Servers of the operator, by label. */
  readonly servers: ReadonlyMap<string, ConfiguredMcpServer>;
  /** Whether requests may bring servers of their own. */
  readonly fromRequests: boolean;
  /** That one server may list. */
  readonly maxTools: number;
  /** @throws GatewayError for a server that may not be asked, as far as its address alone tells */
  open(server: McpServer): McpSession;
  /** Checks an address that an upstream will call itself. @throws GatewayError `url_not_allowed` */
  check(url: string): Promise<void>;
}

export interface ConfiguredMcpServer {
  readonly server: McpServer;
  readonly allowed: McpFilter | null;
  /** What holds when a request says nothing; undefined: a person is always asked. */
  readonly approval: McpApproval | undefined;
}
