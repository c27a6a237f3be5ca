// Applies changes to the list of tools inside a conversation (`tool_addition`, `tool_removal`), and renders them for
// upstreams with only one list.
import { asObject, asString, isJsonObject } from '../../../base/json/index.ts';
import { mcpFunctionName, Problems, Report } from '../../../canonical/index.ts';
import type { JsonObject } from '../../../base/json/index.ts';
import type { CanonicalRequest, Item, Part, Tool } from '../../../canonical/index.ts';
import type { Member } from '../../members/read-member.ts';
import type { Ported } from '../../protocol.ts';
import type { DecodeScope } from './decode-scope.ts';
import { decodeTool } from './decode-tools.ts';

const NO_PARTS: readonly Part[] = [];

/** Returns the raw form of a block that changes the list; undefined for other parts. */
function changeOf(part: Part): JsonObject | undefined {
  const { source } = part;
  if (source?.protocol !== 'anthropic-messages') return undefined;
  const { type } = source.raw;
  return type === 'tool_addition' || type === 'tool_removal' ? source.raw : undefined;
}

function partsOf(item: Item): readonly Part[] {
  return item.type === 'message' || item.type === 'tool_result' ? item.parts : NO_PARTS;
}

/**
 * Returns the tools of the next turn: those of the request, with all changes of the conversation applied in order.
 * Returns the same list if there is no change.
 * @param servers `mcp_servers`, to which a toolset defined in a block refers
 * @param scope collects problems of definitions
 */
export function changedTools(
  tools: readonly Tool[],
  items: readonly Item[],
  servers: Member,
  scope: DecodeScope,
): readonly Tool[] {
  let offered = tools;
  /** Includes removed tools, because a reference can add them again. */
  const known = [...tools];
  for (const item of items)
    for (const part of partsOf(item)) {
      const { type, tool } = changeOf(part) ?? NO_CHANGE;
      if (type === undefined) continue;
      const named = asObject(tool);
      if (type === 'tool_removal') {
        offered = offered.filter((each) => !isNamed(each, named));
        continue;
      }
      const { definition } = named;
      const path = `${part.path ?? 'messages'}.tool.definition`;
      const added = isJsonObject(definition)
        ? decodeTool(definition, path, servers, scope)
        : known.find((each) => isNamed(each, named));
      if (!added || offered.includes(added)) continue;
      offered = [...offered.filter((each) => !isSame(each, added)), added];
      known.push(added);
    }
  return offered;
}

const NO_CHANGE: JsonObject = {};

/** True if a definition replaces an earlier one of the same name. */
function isSame(one: Tool, other: Tool): boolean {
  return one.type !== 'hosted' && other.type !== 'hosted' && one.name === other.name;
}

/** True for a tool that a reference names: by its own name, or by its server and its name there. */
function isNamed(tool: Tool, reference: JsonObject): boolean {
  const name = asString(reference['name']);
  const server = asString(reference['server_name']);
  if (tool.type === 'hosted') {
    if (server === undefined) return name !== undefined && tool.source.raw['name'] === name;
    return name === undefined && tool.meaning?.type === 'mcp' && tool.meaning.mcp.label === server;
  }
  if (server === undefined) return tool.name === name;
  // Functions of an MCP server that the gateway calls instead of the upstream.
  return name === undefined
    ? tool.name.startsWith(`${server}__`)
    : tool.name === mcpFunctionName(server, name);
}

/**
 * Returns the request for an upstream with only one list of tools: the list of the next turn. The changes become text
 * for the model.
 */
export function withOneList(request: CanonicalRequest, report: Report): Ported {
  const { items, raw } = request;
  if (!items.some((item) => partsOf(item).some(changeOf))) return { request, restore: null };
  // Problems of definitions were already reported when the request was decoded.
  const scope: DecodeScope = { problems: new Problems(), report: new Report(), translationLosses: [] };
  const tools = changedTools(request.tools, items, raw['mcp_servers'], scope);
  const rendered = items.map((item) => {
    if (!partsOf(item).some(changeOf) || (item.type !== 'message' && item.type !== 'tool_result'))
      return item;
    return { ...item, parts: item.parts.map((part) => renderedChange(part, report)) };
  });
  const { toolChoice } = request;
  const hasNoEffect = tools.length === 0 || (toolChoice?.type === 'tool' && !hasTool(tools, toolChoice.name));
  const isForced = toolChoice !== undefined && toolChoice.type !== 'auto' && toolChoice.type !== 'none';
  if (hasNoEffect && isForced)
    report.add('tool_choice', 'dropped', 'the tool was removed during the conversation');
  return {
    request: { ...request, tools, items: rendered, toolChoice: hasNoEffect ? undefined : toolChoice },
    restore: null,
  };
}

function hasTool(tools: readonly Tool[], name: string): boolean {
  return tools.some((tool) => tool.type !== 'hosted' && tool.name === name);
}

/** Removes the raw form, so that an upstream of this protocol also gets the text. */
function renderedChange(part: Part, report: Report): Part {
  if (!changeOf(part)) return part;
  report.add(
    part.path ?? 'messages',
    'approximated',
    'the upstream has one list of tools, which is that of the next turn',
  );
  return { ...part, source: undefined } as Part;
}
