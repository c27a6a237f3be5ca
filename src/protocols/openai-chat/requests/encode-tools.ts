// Encodes tools and tool choice within the capabilities of an upstream.
import type { JsonObject, JsonValue, MutableJsonObject } from '../../../base/json/index.ts';
import {
  type CanonicalRequest,
  type CustomTool,
  type FunctionTool,
  type ProtocolName,
  type Tool,
  type ToolChoice,
  TEXTS,
} from '../../../canonical/index.ts';
import { asObject, isJsonObject, unknownMembers } from '../../../base/json/index.ts';
import { functionFor } from '../../calls/custom-as-function.ts';
import { enforceable, isEnforceable } from '../../openai/strict-schema.ts';
import type { EncodeContext } from './encode-context.ts';
import { copyUnknownMembers, ownRaw } from './encode-context.ts';
import { DEFINITIONS, toolShape } from '../member-shapes.ts';

const NO_PARAMETERS: JsonObject = { type: 'object', properties: {} };

/** Writes `tools`, `tool_choice` and `parallel_tool_calls`. The latter two are refused without tools. */
export function encodeTools(
  body: MutableJsonObject,
  request: CanonicalRequest,
  context: EncodeContext,
): void {
  const choice = request.toolChoice;
  const offered = choice ? narrow(request.tools, choice, context) : request.tools;
  const tools: JsonObject[] = [];
  for (const tool of offered) {
    const encoded = encodeTool(tool, request.protocol, context);
    if (encoded) tools.push(encoded);
  }
  if (tools.length === 0) return;
  body['tools'] = tools;
  if (choice) body['tool_choice'] = encodeToolChoice(choice, request, context);
  if (request.parallelToolCalls !== undefined) body['parallel_tool_calls'] = request.parallelToolCalls;
}

/** Returns the tools that the choice allows, for a target that cannot express the choice. */
function narrow(tools: readonly Tool[], choice: ToolChoice, context: EncodeContext): readonly Tool[] {
  const { namedToolChoice } = context.target.quirks;
  if (choice.type === 'tool' && !namedToolChoice) {
    context.report.add(
      'tool_choice',
      'approximated',
      'the upstream cannot force one tool: only that tool is sent',
    );
    return tools.filter((tool) => tool.type !== 'hosted' && tool.name === choice.name);
  }
  if (choice.type === 'allowed' && !takesAllowedTools(context)) {
    context.report.add(
      'tool_choice',
      'approximated',
      'the upstream does not support a list of allowed tools: only those are sent',
    );
    const names = new Set(choice.names);
    return tools.filter((tool) => tool.type === 'hosted' || names.has(tool.name));
  }
  return tools;
}

/** OpenAI added `allowed_tools` together with custom tools (GPT-5, 2025-08). Servers without the latter lack both. */
function takesAllowedTools(context: EncodeContext): boolean {
  const { namedToolChoice, customTools } = context.target.quirks;
  return namedToolChoice && customTools;
}

function encodeToolChoice(
  choice: ToolChoice,
  request: CanonicalRequest,
  context: EncodeContext,
): JsonValue | undefined {
  const { requiredToolChoice, namedToolChoice } = context.target.quirks;
  switch (choice.type) {
    case 'auto':
    case 'none':
      return choice.type;
    case 'required':
      return requiredToolChoice;
    case 'tool':
      return namedToolChoice ? reference(choice.kind, choice.name, context) : requiredToolChoice;
    case 'allowed': {
      if (!takesAllowedTools(context)) return choice.mode === 'required' ? requiredToolChoice : 'auto';
      const kinds = new Map(
        request.tools.map((tool) => [tool.type === 'hosted' ? '' : tool.name, tool.type]),
      );
      const tools = choice.names.map((name) =>
        reference(kinds.get(name) === 'custom' ? 'custom' : 'function', name, context),
      );
      return { type: 'allowed_tools', allowed_tools: { mode: choice.mode, tools } };
    }
    case 'hosted': {
      const raw = ownRaw(choice.source);
      if (!raw) context.report.add('tool_choice', 'dropped', 'the upstream does not support that tool');
      return raw;
    }
  }
}

function reference(kind: 'function' | 'custom', name: string, context: EncodeContext): JsonObject {
  return kind === 'custom' && context.target.quirks.customTools
    ? { type: 'custom', custom: { name } }
    : { type: 'function', function: { name } };
}

function encodeTool(tool: Tool, client: ProtocolName, context: EncodeContext): JsonObject | undefined {
  const path = tool.path ?? 'tools';
  if (tool.type === 'hosted') {
    const raw = ownRaw(tool.source);
    // Web search has its own member at servers that search.
    if (!raw && !(tool.meaning?.type === 'web_search' && context.target.quirks.searchesWeb))
      context.report.add(
        path,
        'dropped',
        `the upstream does not support the tool ${tool.kind} in Chat Completions`,
      );
    return raw;
  }
  const encoded =
    tool.type === 'function'
      ? encodeFunction(tool, path, client, context)
      : encodeCustom(tool, path, context);
  if (tool.cache) {
    if (context.target.quirks.cacheControl) encoded['cache_control'] = tool.cache;
    else context.report.add(`${path}.cache_control`, 'dropped', TEXTS.noBreakpoints);
  }
  const raw = ownRaw(tool.source);
  const shape = raw && toolShape(raw);
  if (shape) copyUnknownMembers(encoded, raw, shape.known, path, context);
  if (shape) copyBelow(encoded, tool, raw, path, context);
  return encoded;
}

/** Copies unknown members of `function` or `custom`, also if a function replaces a custom tool. */
function copyBelow(
  encoded: MutableJsonObject,
  { type }: FunctionTool | CustomTool,
  raw: JsonObject,
  path: string,
  context: EncodeContext,
): void {
  const body = raw[type];
  if (!isJsonObject(body) || !unknownMembers(body, DEFINITIONS[type].known)) return;
  const kind = 'custom' in encoded ? 'custom' : 'function';
  const definition = { ...asObject(encoded[kind]) };
  copyUnknownMembers(definition, body, DEFINITIONS[type].known, `${path}.${type}`, context);
  encoded[kind] = definition;
}

function encodeFunction(
  tool: FunctionTool,
  path: string,
  client: ProtocolName,
  context: EncodeContext,
): MutableJsonObject {
  const { name, description } = tool;
  // Absent parameters mean none, but several servers require a schema. A strict schema would need more members.
  const parameters = tool.parameters ?? (tool.strict === true ? undefined : NO_PARAMETERS);
  if (context.target.quirks.strictTools) {
    // The default is true in the Responses API if the schema allows it, but false here.
    const implied = client === 'openai-responses' && isEnforceable(tool.parameters) ? true : undefined;
    const asked = tool.strict ?? implied;
    const strict = enforceable(asked, parameters, client, `${path}.strict`, context.report);
    return { type: 'function', function: { name, description, parameters, strict } };
  }
  if (tool.strict === true)
    context.report.add(`${path}.strict`, 'dropped', 'the upstream does not enforce tool schemas');
  return { type: 'function', function: { name, description, parameters } };
}

/** Encodes a custom tool; as a function if the server has no custom tools. */
function encodeCustom(tool: CustomTool, path: string, context: EncodeContext): MutableJsonObject {
  const { name, description, format } = tool;
  if (context.target.quirks.customTools) {
    return { type: 'custom', custom: { name, description, format: format && encodeFormat(format) } };
  }
  context.report.add(
    path,
    'approximated',
    'the upstream does not support custom tools: sent as a function with one string argument',
  );
  return { type: 'function', function: { name, ...functionFor(tool) } };
}

/** The canonical grammar is flat; Chat Completions nests it. */
function encodeFormat(format: JsonObject): JsonObject {
  if (format['type'] !== 'grammar') return format;
  const { type, ...grammar } = format;
  return { type, grammar };
}
