// Validates requests like Anthropic's Messages API: members, tools and thinking. `messages-history.ts` checks the
// conversation. Messages imitate the API's own, mostly from memory.
import type { JsonObject } from '../src/base/json/index.ts';
import { asArray, asNumber, asObject, asString, isJsonArray, isJsonObject } from '../src/base/json/index.ts';
import type { RequestProblems } from './request-problems.ts';
import { strictFault, unknownKey } from './conversation.ts';
import { checkHistory } from './messages-history.ts';
import type { SimTraits } from './models.ts';

/** Members of a request, from the reference of `POST /v1/messages` (SDK 1.12), and older sampling parameters. */
const BODY_KEYS = new Set(
  (
    'model messages max_tokens system metadata stop_sequences stream temperature top_p top_k tools tool_choice thinking ' +
    'service_tier container cache_control output_config inference_geo diagnostics speed context_management mcp_servers ' +
    'user_profile_id workspace_id'
  ).split(' '),
);
const TOOL_KEYS = new Set(
  'name description input_schema type cache_control strict defer_loading allowed_callers input_examples eager_input_streaming'.split(
    ' ',
  ),
);
const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'];
const LEAST_BUDGET = 1024;
const MOST_BREAKPOINTS = 4;

/** True when the request enables thinking. */
export function thinks(body: JsonObject): boolean {
  const type = asObject(body['thinking'])['type'];
  return type === 'enabled' || type === 'adaptive';
}

/** Adds the problems of a Messages request. */
export function checkMessages(
  body: JsonObject,
  traits: SimTraits,
  headers: Headers,
  problems: RequestProblems,
): void {
  if (!headers.has('anthropic-version')) problems.add('anthropic-version: header is required');
  const key = unknownKey(body, BODY_KEYS);
  if (key !== undefined) problems.add(`${key}: Extra inputs are not permitted`);
  const limit = asNumber(body['max_tokens']);
  if (body['max_tokens'] === undefined) problems.add('max_tokens: Field required');
  else if (limit === undefined || limit < 1)
    problems.add('max_tokens: Input should be greater than or equal to 1');
  if (!isJsonArray(body['messages'])) problems.add('messages: Field required');
  else checkHistory(body, traits, problems);
  checkSampling(body, problems);
  checkThinking(body, traits, problems);
  checkTools(body, traits, problems);
  checkOutput(body, traits, problems);
  const breakpoints = countBreakpoints(body);
  if (breakpoints > MOST_BREAKPOINTS) {
    problems.add(
      `A maximum of ${MOST_BREAKPOINTS} blocks with cache_control may be provided. Found ${breakpoints}.`,
    );
  }
}

function checkSampling(body: JsonObject, problems: RequestProblems): void {
  for (const name of ['temperature', 'top_p']) {
    const value = asNumber(body[name]);
    if (value !== undefined && (value < 0 || value > 1)) problems.add(`${name}: range: 0..1`);
  }
  asArray(body['stop_sequences']).forEach((sequence, i) => {
    if (typeof sequence === 'string' && sequence.trim() === '')
      problems.add(`stop_sequences: each stop sequence must contain non-whitespace (index ${i})`);
  });
}

function checkThinking(body: JsonObject, traits: SimTraits, problems: RequestProblems): void {
  const thinking = asObject(body['thinking']);
  const { type } = thinking;
  if (type === undefined || type === 'disabled') return;
  if (type !== 'enabled' && type !== 'adaptive') {
    return problems.add(
      `thinking: Input tag '${String(type)}' found using 'type' does not match any of the expected tags: 'adaptive', 'disabled', 'enabled'`,
    );
  }
  if (traits.reasoning === 'none') return problems.add(`'thinking' is not supported on this model.`);
  if (type === 'adaptive' && traits.thinking === 'budget')
    return problems.add('adaptive thinking is not supported on this model');
  if (type === 'enabled') {
    const budget = asNumber(thinking['budget_tokens']);
    if (budget === undefined) return problems.add('thinking.enabled.budget_tokens: Field required');
    if (budget < LEAST_BUDGET)
      problems.add(
        `thinking.enabled.budget_tokens: Input should be greater than or equal to ${LEAST_BUDGET}`,
      );
    if (budget >= (asNumber(body['max_tokens']) ?? 0))
      problems.add('`max_tokens` must be greater than `thinking.budget_tokens`.');
  }
  const temperature = asNumber(body['temperature']);
  if (temperature !== undefined && temperature !== 1)
    problems.add('`temperature` may only be set to 1 when thinking is enabled.');
  const topP = asNumber(body['top_p']);
  if (topP !== undefined && topP < 0.95)
    problems.add('`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.');
  if (body['top_k'] != null) problems.add('`top_k` must be unset when thinking is enabled.');
  const choice = asObject(body['tool_choice'])['type'];
  if (choice === 'any' || choice === 'tool')
    problems.add('Thinking may not be enabled when tool_choice forces tool use.');
}

function checkTools(body: JsonObject, traits: SimTraits, problems: RequestProblems): void {
  const tools = asArray(body['tools']);
  if (tools.length > 0 && !traits.tools) problems.add('tools: tool use is not supported on this model.');
  const names = new Set<string>();
  tools.forEach((value, i) => {
    const tool = asObject(value);
    const name = asString(tool['name']) ?? '';
    // A tool with a dated type is run or defined by the service.
    const own = tool['type'] === undefined || tool['type'] === 'custom';
    if (own) {
      const key = unknownKey(tool, TOOL_KEYS);
      if (key !== undefined) problems.add(`tools.${i}.custom.${key}: Extra inputs are not permitted`);
      if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name))
        problems.add(`tools.${i}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
      const schema = tool['input_schema'];
      if (!isJsonObject(schema)) problems.add(`tools.${i}.custom.input_schema: Field required`);
      else if (schema['type'] !== 'object')
        problems.add(`tools.${i}.custom.input_schema.type: Input should be 'object'`);
      if (tool['strict'] === true) checkClosed(schema, `tools.${i}.custom.input_schema`, problems);
    }
    if (names.has(name)) problems.add('tools: Tool names must be unique.');
    names.add(name);
  });
  const choice = body['tool_choice'];
  if (choice === undefined || choice === null) return;
  const type = asObject(choice)['type'];
  if (type !== 'auto' && type !== 'any' && type !== 'tool' && type !== 'none') {
    return problems.add(
      "tool_choice: Input tag does not match any of the expected tags: 'auto', 'any', 'tool', 'none'",
    );
  }
  if (tools.length === 0) problems.add('tool_choice may only be specified while providing tools.');
  const wanted = asString(asObject(choice)['name']) ?? '';
  if (type === 'tool' && !names.has(wanted)) problems.add(`Tool '${wanted}' not found in provided tools`);
}

function checkOutput(body: JsonObject, traits: SimTraits, problems: RequestProblems): void {
  const config = asObject(body['output_config']);
  const effort = config['effort'];
  if (effort !== undefined && effort !== null) {
    if (traits.thinking === 'budget') problems.add('This model does not support the effort parameter.');
    else if (!EFFORTS.includes(asString(effort) ?? ''))
      problems.add("output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'");
  }
  const format = config['format'];
  if (format === undefined || format === null) return;
  const key = unknownKey(asObject(format), new Set(['type', 'schema']));
  if (key !== undefined) return problems.add(`output_config.format.${key}: Extra inputs are not permitted`);
  if (asObject(format)['type'] !== 'json_schema')
    return problems.add("output_config.format.type: Input should be 'json_schema'");
  if (!traits.jsonSchema)
    return problems.add('output_config.format: structured outputs are not supported on this model.');
  if (!isJsonObject(asObject(format)['schema']))
    return problems.add('output_config.format.schema: Field required');
  checkClosed(asObject(format)['schema'], 'output_config.format.schema', problems);
}

function checkClosed(schema: unknown, path: string, problems: RequestProblems): void {
  const fault = strictFault(asObject(schema), false);
  if (fault)
    problems.add(`${path}: For 'object' type, 'additionalProperties' must be explicitly set to false`);
}

function countBreakpoints(node: unknown): number {
  if (isJsonArray(node)) return node.reduce((sum: number, element) => sum + countBreakpoints(element), 0);
  if (!isJsonObject(node)) return 0;
  let count = isJsonObject(node['cache_control']) ? 1 : 0;
  for (const key of ['system', 'messages', 'tools', 'content']) count += countBreakpoints(node[key]);
  return count;
}
