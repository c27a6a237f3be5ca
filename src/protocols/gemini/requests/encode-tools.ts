// Encodes tools and tool choice in Gemini's form.
import type { JsonObject, JsonValue, MutableJsonObject } from '../../../base/json/index.ts';
import {
  type CanonicalRequest,
  type FunctionTool,
  type HostedTool,
  type ToolChoice,
  TEXTS,
} from '../../../canonical/index.ts';
import { functionFor } from '../../calls/custom-as-function.ts';
import type { EncodeScope } from './encode-scope.ts';
import { dropCache, isLevelGeneration, mayCombine, ownRaw } from './encode-scope.ts';
import type { WireCallingMode } from '../wire-types.ts';

export interface EncodedTools {
  readonly tools: readonly JsonObject[];
  readonly config: JsonObject | undefined;
  /** True if functions are declared, with which older models accept no response format. */
  readonly hasFunctions: boolean;
}

/** Returns the tools and the tool choice. */
export function encodeTools(request: CanonicalRequest, scope: EncodeScope): EncodedTools {
  const { report, target } = scope;
  const functions: JsonObject[] = [];
  const hosted: JsonObject[] = [];
  const isAllStrict = request.tools.every((tool) => tool.type !== 'function' || tool.strict === true);
  request.tools.forEach((tool, position) => {
    const path = tool.path ?? `tools[${position}]`;
    dropCache(tool.cache, path, report);
    if (tool.type === 'hosted') encodeHosted(tool, path, hosted, scope);
    else if (tool.type === 'function') functions.push(encodeFunction(tool, path, isAllStrict, scope));
    else {
      const { description, parameters } = functionFor(tool);
      functions.push({ name: tool.name, description, parametersJsonSchema: parameters });
      report.add(path, 'approximated', TEXTS.customAsFunction);
    }
  });
  if (request.webSearch) {
    for (const name of ['contextSize', 'userLocation'] as const)
      if (request.webSearch[name] !== undefined)
        report.add(
          `web_search_options.${OPTIONS[name]}`,
          'dropped',
          "Google's search does not support this option",
        );
    addSearch(hosted);
  }
  const hasFunctions = functions.length > 0;
  const together = hasFunctions && hosted.length > 0;
  if (together && !mayCombine(request, target)) {
    hosted.length = 0;
    report.add(
      'tools',
      'dropped',
      'models before Gemini 3 do not support hosted tools together with functions',
    );
  }
  const tools = hasFunctions ? [{ functionDeclarations: functions }, ...hosted] : hosted;
  return { tools, config: encodeConfig(request, hasFunctions, together, scope), hasFunctions };
}

const OPTIONS = { contextSize: 'search_context_size', userLocation: 'user_location' } as const;

function encodeHosted(tool: HostedTool, path: string, hosted: JsonObject[], scope: EncodeScope): void {
  const raw = ownRaw(tool.source);
  if (raw) hosted.push(raw);
  else if (tool.meaning?.type === 'web_search') {
    addSearch(hosted);
    for (const key in tool.source.raw)
      if (key !== 'type' && key !== 'name')
        scope.report.add(`${path}.${key}`, 'dropped', "Google's search does not support this option");
  } else scope.report.add(path, 'dropped', `Gemini does not run tools of type ${tool.kind}`);
}

function addSearch(hosted: JsonObject[]): void {
  if (!hosted.some((tool) => 'googleSearch' in tool)) hosted.push({ googleSearch: {} });
}

function encodeFunction(
  tool: FunctionTool,
  path: string,
  isAllStrict: boolean,
  scope: EncodeScope,
): MutableJsonObject {
  const raw = ownRaw(tool.source);
  if (raw) return raw;
  if (tool.strict === true && !isAllStrict)
    scope.report.add(
      `${path}.strict`,
      'approximated',
      'Gemini enforces the schemas of either all functions or none',
    );
  const declared: MutableJsonObject = { name: tool.name };
  if (tool.description !== undefined && tool.description !== '') declared['description'] = tool.description;
  if (tool.parameters !== undefined) declared['parametersJsonSchema'] = tool.parameters;
  return declared;
}

function encodeConfig(
  request: CanonicalRequest,
  hasFunctions: boolean,
  together: boolean,
  { report, target }: EncodeScope,
): JsonObject | undefined {
  const choice = request.toolChoice;
  const config: Record<string, JsonValue> = {};
  if (choice?.type === 'hosted') report.add('tool_choice', 'dropped', 'Gemini cannot force this tool');
  else if (hasFunctions && isStrict(request)) config['functionCallingConfig'] = enforcing(choice);
  else if (choice !== undefined && hasFunctions) config['functionCallingConfig'] = encodeChoice(choice);
  else if (choice !== undefined && choice.type !== 'auto' && choice.type !== 'none')
    report.add('tool_choice', 'dropped', 'requires functions');
  // AI Studio requires it for functions with hosted tools (recorded 2026-05). Google's own clients set it themselves.
  if (together && isLevelGeneration(target) && request.protocol !== 'gemini')
    config['includeServerSideToolInvocations'] = true;
  return Object.keys(config).length > 0 ? config : undefined;
}

function isStrict({ tools }: CanonicalRequest): boolean {
  return tools.some((tool) => tool.type === 'function' && tool.strict === true);
}

/** `VALIDATED` and `ANY` enforce schemas of calls, `AUTO` does not (documentation "Function calling", 2026-11). */
function enforcing(choice: Exclude<ToolChoice, { type: 'hosted' }> | undefined): JsonObject {
  return choice === undefined || choice.type === 'auto' ? { mode: 'VALIDATED' } : encodeChoice(choice);
}

function encodeChoice(choice: Exclude<ToolChoice, { type: 'hosted' }>): JsonObject {
  const of = (mode: WireCallingMode, names?: readonly string[]): JsonObject => ({
    mode,
    allowedFunctionNames: names,
  });
  switch (choice.type) {
    case 'auto':
      return of('AUTO');
    case 'none':
      return of('NONE');
    case 'required':
      return of('ANY');
    case 'tool':
      return of('ANY', [choice.name]);
    case 'allowed':
      // AUTO accepts no names. VALIDATED also allows answers without calls (documentation "Function calling", 2026-11).
      return of(choice.mode === 'required' ? 'ANY' : 'VALIDATED', choice.names);
  }
}
