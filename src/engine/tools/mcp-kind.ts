// MCP servers as a kind of tool: selects the servers of a request, checks permissions, and collects credentials and
// earlier tool lists. Connects to none of them.
import type {
  CanonicalRequest,
  HostedTool,
  McpApproval,
  McpFilter,
  McpToolsFacts,
  McpWish,
} from '../../canonical/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import { Secret } from '../../base/telemetry/secret.ts';
import type { Native } from './available-tools.ts';
import type { GatewayTool, ToolKind, ToolScene } from './gateway-tool.ts';
import { McpServerTool } from './mcp-tool.ts';
import type { McpServer, McpSession } from './mcp/session.ts';

/** Maximum servers of one request, because each needs a connection and adds a tool list to the prompt. */
const MOST_SERVERS = 32;

export interface McpSource {
  readonly native: Native;
  /** The operator's servers, by label. */
  readonly servers: ReadonlyMap<string, ConfiguredMcpServer>;
  /** True: requests may bring their own servers. */
  readonly fromRequests: boolean;
  /** Behaviour when a server cannot list its tools. */
  readonly onUnlisted: 'fail' | 'continue';
  /** Maximum tools that one server may list. */
  readonly maxTools: number;
  /** @throws GatewayError for a server whose address is not allowed */
  open(server: McpServer): McpSession;
  /** Checks an address that an upstream will call itself. @throws GatewayError `url_not_allowed` */
  check(url: string): Promise<void>;
}

export interface ConfiguredMcpServer {
  readonly server: McpServer;
  readonly allowed: McpFilter | null;
  /** Default approval rule. Undefined: approval is always required. */
  readonly approval: McpApproval | undefined;
}

interface Wish {
  readonly hosted: HostedTool;
  readonly wish: McpWish;
}

/** MCP servers of the operator and of requests. */
export function mcpKind(source: McpSource): ToolKind {
  return {
    open(request: CanonicalRequest, scene: ToolScene): readonly GatewayTool[] {
      refuseAnswers(request);
      const wishes = request.tools.flatMap((hosted): Wish[] =>
        hosted.type === 'hosted' && hosted.meaning?.type === 'mcp'
          ? [{ hosted, wish: hosted.meaning.mcp }]
          : [],
      );
      if (wishes.length > MOST_SERVERS) {
        const message = `tools: must have at most ${MOST_SERVERS} MCP servers`;
        throw new GatewayError('invalid_request', message, { param: 'tools' });
      }
      checkLabels(wishes);
      return wishes.map((wish) => openServer(wish, request, scene, source));
    },
  };
}

/**
 * @throws GatewayError when a request answers an approval without naming the server again, because credentials are
 * never stored
 */
function refuseAnswers({ items, tools }: CanonicalRequest): void {
  const last = items.at(-1);
  if (last?.type !== 'hosted_call' || last.facts?.type !== 'mcp_answer') return;
  // Connectors are also servers, which only their vendor can reach.
  if (tools.some((tool) => tool.type === 'hosted' && tool.kind === 'mcp')) return;
  const message =
    'tools: must contain the MCP server of the approval again, because tools are not stored between turns';
  throw new GatewayError('invalid_request', message, { param: 'tools' });
}

/** @throws GatewayError for a duplicate label, because items and approvals refer to servers by label */
function checkLabels(wishes: readonly Wish[]): void {
  const labels = new Set<string>();
  for (const { wish, hosted } of wishes) {
    const param = `${hosted.path ?? 'tools'}.server_label`;
    if (labels.has(wish.label))
      throw new GatewayError('invalid_request', `${param} is used by an earlier server`, { param });
    labels.add(wish.label);
  }
}

function openServer(
  { hosted, wish }: Wish,
  request: CanonicalRequest,
  { names, hasItems }: ToolScene,
  mcp: McpSource,
): McpServerTool {
  const path = hosted.path ?? 'tools';
  const configured = mcp.servers.get(wish.label);
  // The label identifies the operator's server in items and approvals, so requests must not reuse it.
  if (configured && wish.url !== undefined && wish.url !== configured.server.url)
    throw new GatewayError(
      'invalid_request',
      `${path}.server_url must be omitted: "${wish.label}" is the label of a configured server`,
      { param: `${path}.server_url` },
    );
  const approval = wish.approval ?? configured?.approval ?? 'always';
  if (configured)
    for (const name of ['authorization', 'headers'] as const)
      if (wish[name]) request.report.add(`${path}.${name}`, 'dropped', 'the configured server has its own');
  let refusal = configured ? null : refusalOf(wish, path, mcp.fromRequests);
  if (!hasItems && approval !== 'never') refusal ??= approvalUnsupported(path);
  const server = configured?.server ?? {
    label: wish.label,
    url: wish.url ?? '',
    headers: wish.headers ?? {},
    ...(wish.authorization !== undefined && { authorization: new Secret(wish.authorization) }),
    trusted: false,
  };
  let session: McpSession | null = null;
  try {
    session = refusal ? null : mcp.open(server);
  } catch (error) {
    const { message, code } = GatewayError.from(error);
    refusal = new GatewayError('invalid_request', `${path}: ${message}`, { param: path, code });
  }
  return new McpServerTool({
    wish,
    hosted,
    native: mcp.native,
    isOurs: configured !== undefined,
    refusal,
    session,
    names,
    allowed: configured?.allowed ?? null,
    approval,
    earlier: earlierList(request, wish.label, mcp.maxTools),
    hasItems,
    onUnlisted: mcp.onUnlisted,
    check: (url) => mcp.check(url),
  });
}

/**
 * Tools that the server listed in an earlier turn. Undefined: the server must list them, also if the earlier list is
 * too long.
 */
function earlierList(
  { items }: CanonicalRequest,
  label: string,
  maxTools: number,
): McpToolsFacts | undefined {
  for (const item of items.toReversed()) {
    const facts = item.type === 'hosted_call' ? item.facts : undefined;
    if (facts?.type !== 'mcp_tools' || facts.server !== label || facts.error !== undefined) continue;
    return facts.tools.length <= maxTools ? facts : undefined;
  }
  return undefined;
}

/** Error when approval is required but the protocol cannot express it. */
function approvalUnsupported(path: string): GatewayError {
  const param = `${path}.require_approval`;
  const message = `${param}: must be "never": this protocol does not support approvals. Use the Responses API for approvals.`;
  return new GatewayError('invalid_request', message, { param });
}

/** Why a server must not be called from here, based on the request alone. */
function refusalOf(wish: McpWish, path: string, fromRequests: boolean): GatewayError | null {
  if (wish.url === undefined)
    return new GatewayError(
      'invalid_request',
      `${path}.server_url: is required, because no server with the label "${wish.label.slice(0, 100)}" is configured`,
      { param: `${path}.server_url` },
    );
  return fromRequests
    ? null
    : new GatewayError(
        'invalid_request',
        `${path}.server_url: this gateway allows only configured MCP servers`,
        {
          param: `${path}.server_url`,
        },
      );
}
