// The MCP servers that one request names: who may ask each of them, with which credentials, and what is known of them
// from earlier turns. Asks none of them.
import type { CanonicalRequest, HostedTool, JsonObject, McpWish } from '../../canonical/index.ts';
import { asArray, GatewayError } from '../../canonical/index.ts';
import { Secret } from '../../telemetry/secret.ts';
import type { McpSource } from '../../tools/available-tools.ts';
import type { FunctionNames } from '../../tools/gateway-tool.ts';
import { McpServerTool } from '../../tools/mcp-tool.ts';
import type { McpSession } from '../../tools/mcp/session.ts';

/** Of one request: each is a connection, and a list of tools that the model reads. */
const MOST_SERVERS = 32;

/** A server and who would run it elsewhere. */
export interface McpEntry {
  readonly tool: McpServerTool;
  /** The tool of the request, which an endpoint may run itself. */
  readonly hosted: HostedTool;
  /** True for a server of the operator: its address and secrets are nobody else's business. */
  readonly isOurs: boolean;
  /** Why it cannot be asked from here; then only an endpoint can. */
  readonly refusal: GatewayError | null;
  /** True when its tools are known from an earlier turn, which the client has seen. */
  readonly isKnown: boolean;
}

/**
 * The servers of a request, in its order.
 * @param asksPeople whether the client's protocol has a place for questions to a person
 * @throws GatewayError for servers of the same label, or too many
 */
export function openMcpServers(
  request: CanonicalRequest,
  asksPeople: boolean,
  source: McpSource,
  names: FunctionNames,
): readonly McpEntry[] {
  const wishes = request.tools.flatMap((hosted) =>
    hosted.type === 'hosted' && hosted.meaning?.type === 'mcp' ? [{ hosted, wish: hosted.meaning.mcp }] : [],
  );
  if (wishes.length > MOST_SERVERS)
    throw new GatewayError('invalid_request', `tools: no more than ${MOST_SERVERS} MCP servers are asked`, {
      param: 'tools',
    });
  checkLabels(wishes);
  return wishes.map(({ hosted, wish }) => openServer(hosted, wish, request, asksPeople, source, names));
}

/** @throws GatewayError for a second server of the same label: items and answers of persons name servers by it */
function checkLabels(wishes: readonly { readonly hosted: HostedTool; readonly wish: McpWish }[]): void {
  const labels = new Set<string>();
  for (const { wish, hosted } of wishes) {
    const param = `${hosted.path ?? 'tools'}.server_label`;
    if (labels.has(wish.label))
      throw new GatewayError('invalid_request', `${param} is used by an earlier server`, { param });
    labels.add(wish.label);
  }
}

function openServer(
  hosted: HostedTool,
  wish: McpWish,
  request: CanonicalRequest,
  asksPeople: boolean,
  mcp: McpSource,
  names: FunctionNames,
): McpEntry {
  const path = hosted.path ?? 'tools';
  const configured = mcp.servers.get(wish.label);
  // Its label stands for it in items and in answers of persons: nobody else may take it.
  if (configured && wish.url !== undefined && wish.url !== configured.server.url)
    throw new GatewayError(
      'invalid_request',
      `${path}.server_url must be left out: "${wish.label}" is the label of a configured server`,
      { param: `${path}.server_url` },
    );
  const approval = wish.approval ?? configured?.approval ?? 'always';
  if (configured)
    for (const name of ['authorization', 'headers'] as const)
      if (wish[name]) request.report.add(`${path}.${name}`, 'dropped', "the operator's server has its own");
  let refusal = configured ? null : refusalOf(wish, path, mcp.fromRequests);
  if (!asksPeople && approval !== 'never') refusal ??= unanswerable(path);
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
  const tool = new McpServerTool({
    wish,
    session,
    names,
    allowed: configured?.allowed ?? null,
    approval,
  });
  const earlier = earlierList(request, wish.label, mcp.maxTools);
  if (earlier) tool.reuse(earlier);
  return { tool, hosted, isOurs: configured !== undefined, refusal, isKnown: earlier !== undefined };
}

/** What the server listed in an earlier turn; undefined when it has to be asked, also because the list is too long. */
function earlierList({ items }: CanonicalRequest, label: string, maxTools: number): JsonObject | undefined {
  const item = items.findLast(
    (each) =>
      each.type === 'hosted_call' &&
      each.kind === 'mcp_list_tools' &&
      each.source.raw['server_label'] === label &&
      (each.source.raw['error'] ?? null) === null,
  );
  const raw = item?.type === 'hosted_call' ? item.source.raw : undefined;
  return asArray(raw?.['tools']).length <= maxTools ? raw : undefined;
}

/** Nobody could ever allow a call. */
function unanswerable(path: string): GatewayError {
  const param = `${path}.require_approval`;
  const message = `${param} must be "never": this protocol has no place for asking a person; the Responses API has`;
  return new GatewayError('invalid_request', message, { param });
}

/** Why a server may not be asked from here, as far as the request alone tells. */
function refusalOf(wish: McpWish, path: string, fromRequests: boolean): GatewayError | null {
  if (wish.url === undefined)
    return new GatewayError(
      'invalid_request',
      `${path}.server_url is required: no server with the label "${wish.label.slice(0, 100)}" is configured`,
      { param: `${path}.server_url` },
    );
  return fromRequests
    ? null
    : new GatewayError('invalid_request', `${path}.server_url: requests may not bring MCP servers here`, {
        param: `${path}.server_url`,
      });
}
