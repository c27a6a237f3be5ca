// Encodes tools and tool choice in Converse's form.
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import { type CanonicalRequest, type Tool, type ToolChoice, TEXTS } from '../../../canonical/index.ts';
import { strictSchema } from '../../members/constrain-schema.ts';
import { functionFor } from '../../calls/custom-as-function.ts';
import { NO_ARGUMENTS, objectSchema } from '../../members/object-schema.ts';
import { addCachePoint } from './encode-scope.ts';
import type { EncodeScope } from './encode-scope.ts';

/** Returns `toolConfig`; undefined if no tool is declared. */
export function encodeTools(request: CanonicalRequest, scope: EncodeScope): JsonObject | undefined {
  const { toolChoice: choice } = request;
  const allowed = choice?.type === 'allowed' ? new Set(choice.names) : undefined;
  const called = new Set(request.items.flatMap((item) => (item.type === 'tool_call' ? [item.name] : [])));
  // Forbidden tools are omitted, unless calls in the conversation require tools to be declared.
  const tools = choice?.type === 'none' && called.size === 0 ? [] : encodeList(request.tools, allowed, scope);
  if (tools.length === 0)
    return called.size === 0 ? noTools(choice, scope) : declareHistory(called, choice, scope);
  const toolChoice = encodeChoice(choice, scope);
  return { tools, ...(toolChoice === undefined ? {} : { toolChoice }) };
}

function encodeList(
  given: readonly Tool[],
  allowed: ReadonlySet<string> | undefined,
  scope: EncodeScope,
): MutableJsonObject[] {
  const tools: MutableJsonObject[] = [];
  given.forEach((tool, position) => {
    const path = tool.path ?? `tools[${position}]`;
    if (tool.type === 'hosted') {
      scope.report.add(path, 'dropped', `Bedrock does not run tools of type ${tool.kind}`);
      return;
    }
    if (allowed !== undefined && !allowed.has(tool.name)) return;
    tools.push({
      toolSpec:
        tool.type === 'function' ? encodeFunction(tool, path, scope) : encodeCustom(tool, path, scope),
    });
    addCachePoint(tools, tool.cache, path, scope);
  });
  return tools;
}

function encodeFunction(
  tool: Extract<Tool, { type: 'function' }>,
  path: string,
  scope: EncodeScope,
): JsonObject {
  const { report, target } = scope;
  const schema = objectSchema(tool.parameters, path, 'Bedrock', report);
  const spec = named(tool.name, tool.description, schema);
  if (tool.strict !== true) return spec;
  if (!target.quirks.strictTools) {
    report.add(`${path}.strict`, 'dropped', 'this model does not enforce tool schemas');
    return spec;
  }
  const enforced = strictSchema(schema, path, 'Bedrock', report);
  return enforced ? { ...named(tool.name, tool.description, enforced), strict: true } : spec;
}

function encodeCustom(
  tool: Extract<Tool, { type: 'custom' }>,
  path: string,
  { report }: EncodeScope,
): JsonObject {
  report.add(path, 'approximated', TEXTS.customAsFunction);
  const { description, parameters } = functionFor(tool);
  return named(tool.name, description, parameters);
}

function named(name: string, description: string | undefined, schema: JsonObject): JsonObject {
  return { name, ...(description ? { description } : {}), inputSchema: { json: schema } };
}

function noTools(choice: ToolChoice | undefined, { report }: EncodeScope): undefined {
  if (choice !== undefined && choice.type !== 'auto' && choice.type !== 'none')
    report.add('tool_choice', 'dropped', TEXTS.noToolToChoose);
  return undefined;
}

/**
 * Declares tools for earlier calls, because Bedrock requires `toolConfig` with them ("toolConfig field must be defined
 * …", recorded).
 */
function declareHistory(
  called: ReadonlySet<string>,
  choice: ToolChoice | undefined,
  scope: EncodeScope,
): JsonObject {
  noTools(choice, scope);
  scope.report.add('tools', 'approximated', 'Bedrock requires the tools of earlier calls; they were added');
  const tools = [...called].map((name) => ({
    toolSpec: named(name, 'Called earlier in this conversation; do not call it again.', NO_ARGUMENTS),
  }));
  return { tools };
}

function encodeChoice(choice: ToolChoice | undefined, { report }: EncodeScope): JsonObject | undefined {
  switch (choice?.type) {
    case undefined:
    case 'auto':
      return undefined;
    case 'none':
      report.add(
        'tool_choice',
        'approximated',
        'Bedrock cannot forbid tools that were called in the conversation',
      );
      return undefined;
    case 'required':
      return { any: {} };
    case 'tool':
      return { tool: { name: choice.name } };
    case 'allowed':
      report.add(
        'tool_choice',
        'approximated',
        'only the allowed tools are sent: Bedrock has no list of allowed tools',
      );
      return choice.mode === 'required' ? { any: {} } : undefined;
    case 'hosted':
      report.add('tool_choice', 'dropped', 'Bedrock cannot force this tool');
      return undefined;
  }
}
