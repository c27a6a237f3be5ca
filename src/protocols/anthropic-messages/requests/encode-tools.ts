// Encodes tools and tool choice for the Messages API.
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import {
  type CanonicalRequest,
  type CustomTool,
  type FunctionTool,
  type SearchWish,
  type ToolChoice,
  TEXTS,
} from '../../../canonical/index.ts';
import { strictSchema } from '../../members/constrain-schema.ts';
import { functionFor } from '../../calls/custom-as-function.ts';
import { NO_ARGUMENTS, objectSchema } from '../../members/object-schema.ts';
import { type EncodeScope, markCache, ownRaw } from './encode-parts.ts';
import { LOCATION } from '../member-shapes.ts';

export interface EncodedTools {
  readonly tools: MutableJsonObject[];
  readonly choice: JsonObject | undefined;
}

/** Returns the tools and the tool choice; both empty if the request has none. */
export function encodeTools(request: CanonicalRequest, scope: EncodeScope): EncodedTools {
  const { toolChoice } = request;
  const allowed = toolChoice?.type === 'allowed' ? new Set(toolChoice.names) : undefined;
  const tools: MutableJsonObject[] = [];
  request.tools.forEach((tool, position) => {
    const path = tool.path ?? `tools[${position}]`;
    if (tool.type === 'hosted') {
      const raw = ownRaw(tool.source);
      if (raw) tools.push(raw);
      else if (tool.meaning?.type === 'web_search') encodeWebSearch(tool.meaning.search, path, tools, scope);
      else scope.report.add(path, 'dropped', `Anthropic does not run tools of type ${tool.kind}`);
      return;
    }
    if (allowed !== undefined && !allowed.has(tool.name)) return;
    const block =
      tool.type === 'function' ? encodeFunction(tool, path, scope) : encodeCustom(tool, path, scope);
    markCache(block, tool.cache, path, scope);
    tools.push(block);
  });
  if (request.webSearch) {
    const wish = { ...request.webSearch, allowedDomains: [], blockedDomains: [] };
    encodeWebSearch(wish, 'web_search_options', tools, scope);
  }
  if (tools.length === 0) return declareHistory(request, scope);
  return { tools, choice: encodeChoice(toolChoice, request.parallelToolCalls, scope) };
}

function encodeFunction(tool: FunctionTool, path: string, scope: EncodeScope): MutableJsonObject {
  const raw = ownRaw(tool.source);
  if (raw) return raw;
  const schema = objectSchema(tool.parameters, path, 'Anthropic', scope.report);
  const block: MutableJsonObject = { name: tool.name };
  if (tool.description !== undefined && tool.description !== '') block['description'] = tool.description;
  block['input_schema'] = schema;
  if (tool.strict !== true) return block;
  if (!scope.target.quirks.strictTools) {
    scope.report.add(`${path}.strict`, 'dropped', 'this upstream does not enforce tool schemas');
    return block;
  }
  const enforced = strictSchema(schema, path, 'Anthropic', scope.report);
  return enforced ? { ...block, input_schema: enforced, strict: true } : block;
}

/** Encodes a custom tool as a function whose only argument is the free-form input. */
function encodeCustom(tool: CustomTool, path: string, scope: EncodeScope): MutableJsonObject {
  scope.report.add(path, 'approximated', TEXTS.customAsFunction);
  const { description, parameters } = functionFor(tool);
  return { name: tool.name, ...(description === undefined ? {} : { description }), input_schema: parameters };
}

function encodeWebSearch(
  wish: SearchWish,
  path: string,
  tools: MutableJsonObject[],
  scope: EncodeScope,
): void {
  const { contextSize, userLocation: place, allowedDomains, blockedDomains, maxUses } = wish;
  if (contextSize !== undefined)
    scope.report.add(
      `${path}.search_context_size`,
      'dropped',
      'Anthropic does not support a search context size',
    );
  if (tools.some((tool) => tool['name'] === 'web_search')) {
    scope.report.add(path, 'dropped', 'the request has another tool with the name web_search');
    return;
  }
  const tool: MutableJsonObject = { type: 'web_search_20250305', name: 'web_search' };
  if (maxUses !== undefined) tool['max_uses'] = maxUses;
  if (allowedDomains.length > 0) tool['allowed_domains'] = allowedDomains;
  // Anthropic refuses both lists together. With a list of allowed domains, all others are blocked anyway.
  else if (blockedDomains.length > 0) tool['blocked_domains'] = blockedDomains;
  if (place !== undefined) tool['user_location'] = userLocation(place, path, scope);
  tools.push(tool);
}

function userLocation(given: JsonObject, path: string, scope: EncodeScope): JsonObject {
  const location: MutableJsonObject = { type: 'approximate' };
  for (const key in given) {
    if (LOCATION.known.has(key)) location[key] = given[key];
    else scope.report.add(`${path}.user_location.${key}`, 'dropped', TEXTS.unknownToAnthropic);
  }
  return location;
}

/**
 * Declares tools for earlier calls, which Anthropic requires if the conversation contains any. If the client has no
 * tools, the called ones are declared, but may not be called again.
 */
function declareHistory(request: CanonicalRequest, scope: EncodeScope): EncodedTools {
  const wanted = request.toolChoice?.type;
  if (wanted !== undefined && wanted !== 'auto' && wanted !== 'none') {
    scope.report.add('tool_choice', 'dropped', TEXTS.noToolToChoose);
  }
  const names = new Set<string>();
  for (const item of request.items) if (item.type === 'tool_call') names.add(item.name);
  if (names.size === 0) return { tools: [], choice: undefined };
  scope.report.add(
    'tools',
    'approximated',
    'Anthropic requires the tools of earlier calls; they were added but cannot be called',
  );
  const tools = [...names].map((name) => ({
    name,
    description: 'Called earlier in this conversation.',
    input_schema: NO_ARGUMENTS,
  }));
  return { tools, choice: { type: 'none' } };
}

function encodeChoice(
  choice: ToolChoice | undefined,
  parallel: boolean | undefined,
  scope: EncodeScope,
): JsonObject | undefined {
  const serial = parallel === false ? { disable_parallel_tool_use: true } : {};
  switch (choice?.type) {
    case undefined:
      return parallel === false ? { type: 'auto', ...serial } : undefined;
    case 'auto':
      return { type: 'auto', ...serial };
    case 'none':
      return { type: 'none' };
    case 'required':
      return { type: 'any', ...serial };
    case 'tool':
      return { type: 'tool', name: choice.name, ...serial };
    case 'allowed':
      scope.report.add(
        'tool_choice',
        'approximated',
        'only the allowed tools are sent: Anthropic has no list of allowed tools',
      );
      return { type: choice.mode === 'required' ? 'any' : 'auto', ...serial };
    case 'hosted': {
      const raw = ownRaw(choice.source);
      if (raw) return raw;
      scope.report.add('tool_choice', 'dropped', 'Anthropic cannot force this tool');
      return parallel === false ? { type: 'auto', ...serial } : undefined;
    }
  }
}
