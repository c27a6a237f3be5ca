// Changes of the list of tools in the midst of a conversation (`tool_addition`, `tool_removal`): what they make of the list,
// and what they are where an upstream knows only one list. Knows no other block.
import { asObject, asString, isJsonObject } from '../../../base/json/index.ts';
import { mcpFunctionName, Problems, Report } from '../../../canonical/index.ts';
import type { JsonObject } from '../../../base/json/index.ts';
import type { CanonicalRequest, Item, Part, Tool } from '../../../canonical/index.ts';
import type { Member } from '../../members/read-member.ts';
import type { Ported } from '../../protocol.ts';
import type { DecodeScope } from './decode-scope.ts';
import { decodeTool } from './decode-tools.ts';

const NO_PARTS: readonly Part[] = [];

/** The raw form of a block that changes the list; undefined for any other part. */
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
 * The tools that the next turn has: those of the request, with every change of the conversation in its order. The same list
 * where nothing changes it.
 * @param servers `mcp_servers`, which a toolset names that is defined in a block
 * @param scope takes what is wrong with a definition
 */
export function changedTools(
  tools: readonly Tool[],
  items: readonly Item[],
  servers: Member,
  scope: DecodeScope,
): readonly Tool[] {
  let offered = tools;
  /** Also those that were taken away: a reference can bring them back. */
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

/** A definition takes the place of an earlier one of its name. */
function isSame(one: Tool, other: Tool): boolean {
  return one.type !== 'hosted' && other.type !== 'hosted' && one.name === other.name;
}

/** True for a tool that a reference names: by its own name, or by the server and its name there. */
function isNamed(tool: Tool, reference: JsonObject): boolean {
  const name = asString(reference['name']);
  const server = asString(reference['server_name']);
  if (tool.type === 'hosted') {
    if (server === undefined) return name !== undefined && tool.source.raw['name'] === name;
    return name === undefined && tool.meaning?.type === 'mcp' && tool.meaning.mcp.label === server;
  }
  if (server === undefined) return tool.name === name;
  // Functions of a server that the gateway asks in the place of the upstream.
  return name === undefined
    ? tool.name.startsWith(`${server}__`)
    : tool.name === mcpFunctionName(server, name);
}

/**
 * The request for an upstream that knows one list of tools: it gets the list that holds for the next turn, and the model
 * reads where it changed.
 */
export function withOneList(request: CanonicalRequest, report: Report): Ported {
  const { items, raw } = request;
  if (!items.some((item) => partsOf(item).some(changeOf))) return { request, restore: null };
  // Problems of a definition were reported when the request was read.
  const scope: DecodeScope = { problems: new Problems(), report: new Report(), translationLosses: [] };
  const tools = changedTools(request.tools, items, raw['mcp_servers'], scope);
  const rendered = items.map((item) => {
    if (!partsOf(item).some(changeOf) || (item.type !== 'message' && item.type !== 'tool_result'))
      return item;
    return { ...item, parts: item.parts.map((part) => renderedChange(part, report)) };
  });
  const { toolChoice } = request;
  const isMoot = tools.length === 0 || (toolChoice?.type === 'tool' && !hasTool(tools, toolChoice.name));
  const isForced = toolChoice !== undefined && toolChoice.type !== 'auto' && toolChoice.type !== 'none';
  if (isMoot && isForced) report.add('tool_choice', 'dropped', 'the tool was taken away in the conversation');
  return {
    request: { ...request, tools, items: rendered, toolChoice: isMoot ? undefined : toolChoice },
    restore: null,
  };
}

function hasTool(tools: readonly Tool[], name: string): boolean {
  return tools.some((tool) => tool.type !== 'hosted' && tool.name === name);
}

/** Its words alone: an upstream of the same protocol would take its raw form. */
function renderedChange(part: Part, report: Report): Part {
  if (!changeOf(part)) return part;
  report.add(
    part.path ?? 'messages',
    'approximated',
    'the upstream has one list of tools: that of the next turn',
  );
  return { ...part, source: undefined } as Part;
}
