// Encodes tools and tool choice in the flat form of the Responses API.
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import {
  type CanonicalRequest,
  type CustomTool,
  type FunctionTool,
  type Report,
  type SearchWish,
  type Target,
  type Tool,
  type ToolChoice,
  TEXTS,
} from '../../../canonical/index.ts';
import { asString } from '../../../base/json/index.ts';
import { functionFor } from '../../calls/custom-as-function.ts';
import { enforceable } from '../../openai/strict-schema.ts';
import { reportCache } from './encode-parts.ts';
import { CUSTOM_SHAPE, FUNCTION_SHAPE, unknownOf } from '../member-shapes.ts';

/** Schema for a function without arguments, because the API requires one. */
const NO_PARAMETERS: JsonObject = { type: 'object', properties: {} };

interface EncodedTools {
  readonly tools: readonly JsonObject[];
  /** Undefined: the member is omitted. */
  readonly toolChoice: JsonObject | string | undefined;
}

/** Returns the request's tools, including its web search, and the tool choice. */
export function encodeTools(request: CanonicalRequest, target: Target, report: Report): EncodedTools {
  let tools: JsonObject[] = [];
  for (let i = 0; i < request.tools.length; i++) {
    const tool = request.tools[i];
    const wire = tool && encodeTool(tool, tool.path ?? `tools[${i}]`, request, target, report);
    if (wire) tools.push(wire);
  }
  const search = encodeWebSearch(request, tools, report);
  if (search) tools.push(search);
  const choice = request.toolChoice;
  if (choice === undefined) return { tools, toolChoice: undefined };
  if (tools.length === 0) {
    // The API refuses the member without tools. These two have no effect then.
    if (choice.type !== 'none' && choice.type !== 'auto')
      report.add('tool_choice', 'dropped', TEXTS.noToolToChoose);
    return { tools, toolChoice: undefined };
  }
  if (choice.type === 'tool' && !target.quirks.namedToolChoice) {
    report.add(
      'tool_choice',
      'approximated',
      'this server cannot force one tool: only that tool is sent, and a call is required',
    );
    tools = tools.filter((tool) => tool['name'] === choice.name);
    return { tools, toolChoice: target.quirks.requiredToolChoice };
  }
  return { tools, toolChoice: encodeToolChoice(choice, request.tools, target, report) };
}

function encodeTool(
  tool: Tool,
  path: string,
  request: CanonicalRequest,
  target: Target,
  report: Report,
): JsonObject | undefined {
  reportCache(tool.cache, path, report);
  const own = tool.source?.protocol === 'openai-responses' ? tool.source.raw : undefined;
  switch (tool.type) {
    case 'function':
      return own && (target.quirks.strictTools || tool.strict === undefined)
        ? own
        : {
            ...(own && unknownOf(own, FUNCTION_SHAPE, path, target, report)),
            ...encodeFunction(tool, path, request, target, report),
          };
    case 'custom':
      return encodeCustom(tool, own, path, target, report);
    case 'hosted':
      if (own) return own;
      if (tool.meaning?.type === 'web_search') return encodeSearch(tool.meaning.search, path, report);
      report.add(path, 'dropped', `the tool ${tool.kind} exists only in ${tool.source.protocol}`);
      return undefined;
  }
}

function encodeFunction(
  tool: FunctionTool,
  path: string,
  request: CanonicalRequest,
  target: Target,
  report: Report,
): JsonObject {
  const out: MutableJsonObject = {
    type: 'function',
    name: tool.name,
    description: tool.description,
    parameters: tool.parameters && Object.keys(tool.parameters).length > 0 ? tool.parameters : NO_PARAMETERS,
  };
  if (!target.quirks.strictTools) {
    if (tool.strict) report.add(`${path}.strict`, 'dropped', 'this server does not enforce tool schemas');
  } else if (tool.strict !== undefined || request.protocol !== 'openai-responses') {
    // The API's default is true. In other protocols it is false, so a missing value means false here.
    out['strict'] =
      enforceable(tool.strict, tool.parameters, request.protocol, `${path}.strict`, report) ?? false;
  }
  return out;
}

function encodeCustom(
  tool: CustomTool,
  own: JsonObject | undefined,
  path: string,
  target: Target,
  report: Report,
): JsonObject {
  if (target.quirks.customTools) {
    return (
      own ??
      withoutUndefined({
        type: 'custom',
        name: tool.name,
        description: tool.description,
        format: tool.format,
      })
    );
  }
  report.add(path, 'approximated', TEXTS.customAsFunction);
  return withoutUndefined({
    ...unknownOf(own, CUSTOM_SHAPE, path, target, report),
    type: 'function',
    name: tool.name,
    ...functionFor(tool),
    strict: target.quirks.strictTools ? false : undefined,
  });
}

/** Encodes the client's `web_search_options` as a tool, unless it sent the tool itself. */
function encodeWebSearch(
  request: CanonicalRequest,
  tools: readonly JsonObject[],
  report: Report,
): JsonObject | undefined {
  const search = request.webSearch;
  if (!search || tools.some((tool) => asString(tool['type'])?.startsWith('web_search'))) return undefined;
  return encodeSearch({ ...search, allowedDomains: [], blockedDomains: [] }, 'web_search_options', report);
}

function encodeSearch(wish: SearchWish, path: string, report: Report): JsonObject {
  const { contextSize, userLocation, allowedDomains, blockedDomains, maxUses } = wish;
  if (maxUses !== undefined)
    report.add(`${path}.max_uses`, 'dropped', 'the Responses API has no separate limit for searches');
  const filters = withoutUndefined({
    allowed_domains: allowedDomains.length > 0 ? allowedDomains : undefined,
    blocked_domains: blockedDomains.length > 0 ? blockedDomains : undefined,
  });
  return withoutUndefined({
    type: 'web_search',
    search_context_size: contextSize,
    user_location: userLocation && { type: 'approximate', ...userLocation },
    filters: Object.keys(filters).length > 0 ? filters : undefined,
  });
}

function encodeToolChoice(
  choice: ToolChoice,
  tools: readonly Tool[],
  target: Target,
  report: Report,
): JsonObject | string | undefined {
  switch (choice.type) {
    case 'auto':
    case 'none':
      return choice.type;
    case 'required':
      return target.quirks.requiredToolChoice;
    case 'tool':
      return { type: wireKind(choice.kind, target), name: choice.name };
    case 'allowed': {
      const custom = new Set(tools.map((tool) => (tool.type === 'custom' ? tool.name : undefined)));
      return {
        type: 'allowed_tools',
        mode: choice.mode,
        tools: choice.names.map((name) => ({
          type: wireKind(custom.has(name) ? 'custom' : 'function', target),
          name,
        })),
      };
    }
    case 'hosted':
      if (choice.source.protocol === 'openai-responses') return choice.source.raw;
      report.add('tool_choice', 'dropped', `this choice exists only in ${choice.source.protocol}`);
      return undefined;
  }
}

function wireKind(kind: 'function' | 'custom', target: Target): 'function' | 'custom' {
  return target.quirks.customTools ? kind : 'function';
}

/** Removes members without a value, so that the object equals what is sent. */
function withoutUndefined(object: MutableJsonObject): JsonObject {
  for (const key of Object.keys(object)) if (object[key] === undefined) delete object[key];
  return object;
}
