// Validates requests like OpenAI's Responses API: unknown parameters, references to objects that were never stored,
// calls without results, and reasoning that was changed.
import type { JsonObject, JsonValue } from '../src/base/json/index.ts';
import { asArray, asNumber, asObject, asString, isJsonArray, isJsonObject } from '../src/base/json/index.ts';
import { checkEffortValue, strictMessage } from './chat-check.ts';
import type { RequestProblems } from './request-problems.ts';
import { strictFault, unknownKey } from './conversation.ts';
import type { SimTraits } from './models.ts';
import { sealIsGenuine } from './seal.ts';

/** Members of a request, from the reference of `POST /responses` (openai 7.57), and those that Codex adds. */
const BODY_KEYS = new Set(
  (
    'access_programs background client_metadata context_management conversation image include input instructions max_output_tokens ' +
    'max_tool_calls metadata model moderation parallel_tool_calls previous_response_id prompt prompt_cache_key ' +
    'prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store stream stream_options ' +
    'temperature text tool_choice tools top_logprobs top_p truncation user'
  ).split(' '),
);
const REASONING_KEYS = new Set(['effort', 'summary', 'generate_summary', 'context', 'mode']);
/** Prefixes of item ids. */
const ID_PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  custom_tool_call: 'ctc',
  web_search_call: 'ws',
};
const LONGEST_ID = 64;
const LEAST_OUTPUT_TOKENS = 16;

/** Adds the problems of a Responses request. */
export function checkResponses(body: JsonObject, traits: SimTraits, problems: RequestProblems): void {
  const key = unknownKey(body, BODY_KEYS);
  if (key !== undefined) unknown(key, problems);
  checkReferences(body, problems);
  const { input } = body;
  if (isJsonArray(input)) {
    if (input.length === 0)
      problems.add(
        "Invalid 'input': empty array. Expected an array with minimum length 1.",
        'input',
        'empty_array',
      );
    checkItems(input.map(asObject), body, problems);
  } else if (typeof input !== 'string') {
    problems.add("Missing required parameter: 'input'.", 'input', 'missing_required_parameter');
  }
  checkReasoning(body, traits, problems);
  checkTools(body, traits, problems);
  checkText(body, traits, problems);
  const limit = body['max_output_tokens'];
  if (limit != null && (asNumber(limit) ?? 0) < LEAST_OUTPUT_TOKENS) {
    problems.add(
      `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= ${LEAST_OUTPUT_TOKENS}, but got ${String(limit)} instead.`,
      'max_output_tokens',
      'integer_below_min_value',
    );
  }
  for (const [name, most] of [
    ['temperature', 2],
    ['top_p', 1],
  ] as const) {
    const value = body[name];
    if (value == null) continue;
    const number = asNumber(value);
    if (number === undefined || number < 0 || number > most)
      problems.add(`Invalid '${name}': expected a number from 0 to ${most}.`, name, 'invalid_value');
  }
}

function unknown(path: string, problems: RequestProblems): void {
  problems.add(`Unknown parameter: '${path}'.`, path, 'unknown_parameter');
}

/** The service stores nothing, so every reference fails, with the service's own message. */
function checkReferences(body: JsonObject, problems: RequestProblems): void {
  const previous = asString(body['previous_response_id']);
  if (previous !== undefined) {
    problems.add(
      `Previous response with id '${previous}' not found.`,
      'previous_response_id',
      'previous_response_not_found',
    );
  }
  if (body['conversation'] != null) problems.add('Conversation not found.', 'conversation', null, 404);
  if (body['prompt'] != null) problems.add('Prompt not found.', 'prompt', null, 404);
  if (body['background'] === true)
    problems.add("'background' is not supported with this model.", 'background', 'unsupported_parameter');
}

function checkItems(items: readonly JsonObject[], body: JsonObject, problems: RequestProblems): void {
  const calls = new Set<string>();
  const results = new Set<string>();
  const ids = new Set<string>();
  items.forEach((item, i) => {
    const path = `input[${i}]`;
    const type = asString(item['type']) ?? 'message';
    checkId(item, type, path, problems);
    const id = asString(item['id']);
    if (id !== undefined && ids.has(id))
      problems.add(
        `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`,
        'input',
      );
    const callId = asString(item['call_id']) ?? '';
    switch (type) {
      case 'message':
        checkMessage(item, path, problems);
        break;
      case 'item_reference':
        problems.add(`Item with id '${id ?? ''}' not found.`, 'input', null, 404);
        break;
      case 'reasoning':
        checkSealed(item, path, body, problems);
        break;
      case 'function_call':
      case 'custom_tool_call':
        calls.add(callId);
        checkCall(item, type, ids, path, problems);
        break;
      case 'function_call_output':
      case 'custom_tool_call_output':
        if (!calls.has(callId))
          problems.add(`No tool call found for function call output with call_id ${callId}.`, 'input');
        if (item['output'] === undefined)
          problems.add(
            `Missing required parameter: '${path}.output'.`,
            `${path}.output`,
            'missing_required_parameter',
          );
        results.add(callId);
        break;
    }
    if (id !== undefined) ids.add(id);
  });
  for (const callId of calls)
    if (!results.has(callId)) problems.add(`No tool output found for function call ${callId}.`, 'input');
}

function checkId(item: JsonObject, type: string, path: string, problems: RequestProblems): void {
  for (const key of ['id', 'call_id']) {
    const id = asString(item[key]);
    if (id === undefined) continue;
    if (id.length > LONGEST_ID) {
      problems.add(
        `Invalid '${path}.${key}': string too long. Expected a string with maximum length ${LONGEST_ID}, but got a string with length ${id.length} instead.`,
        `${path}.${key}`,
        'string_above_max_length',
      );
    }
    const prefix = key === 'id' ? ID_PREFIXES[type] : undefined;
    if (prefix !== undefined && !id.startsWith(prefix)) {
      problems.add(
        `Invalid '${path}.id': '${id}'. Expected an ID that begins with '${prefix}'.`,
        `${path}.id`,
        'invalid_value',
      );
    }
  }
}

const MESSAGE_KEYS = new Set(['type', 'role', 'content', 'id', 'status', 'phase']);
const PART_TYPES: Readonly<Record<string, readonly string[]>> = {
  assistant: ['output_text', 'refusal'],
  other: ['input_text', 'input_image', 'input_file', 'input_audio'],
};

function checkMessage(item: JsonObject, path: string, problems: RequestProblems): void {
  const key = unknownKey(item, MESSAGE_KEYS);
  if (key !== undefined) unknown(`${path}.${key}`, problems);
  const role = asString(item['role']) ?? '';
  if (!['user', 'assistant', 'system', 'developer'].includes(role)) {
    problems.add(
      `Invalid value: '${role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.`,
      `${path}.role`,
      'invalid_value',
    );
  }
  const { content } = item;
  if (typeof content === 'string') return;
  if (!isJsonArray(content))
    return problems.add(
      `Missing required parameter: '${path}.content'.`,
      `${path}.content`,
      'missing_required_parameter',
    );
  const types = PART_TYPES[role === 'assistant' ? 'assistant' : 'other'] ?? [];
  content.forEach((part, i) => {
    const type = asString(asObject(part)['type']) ?? '';
    if (types.includes(type)) return;
    problems.add(
      `Invalid value: '${type}'. Supported values are: ${types.map((name) => `'${name}'`).join(', ')}.`,
      `${path}.content[${i}].type`,
      'invalid_value',
    );
  });
}

/** A reasoning item must have genuine `encrypted_content`. Without it, it refers to an item that was not stored. */
function checkSealed(item: JsonObject, path: string, body: JsonObject, problems: RequestProblems): void {
  const id = asString(item['id']) ?? '';
  if (!isJsonArray(item['summary']))
    problems.add(
      `Missing required parameter: '${path}.summary'.`,
      `${path}.summary`,
      'missing_required_parameter',
    );
  const sealed = asString(item['encrypted_content']);
  if (sealed === undefined) {
    if (body['store'] === false) {
      problems.add(
        `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
        'input',
        null,
        404,
      );
    }
  } else if (!sealIsGenuine(sealed)) {
    problems.add(
      `The encrypted content for item ${id} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
      null,
      'invalid_encrypted_content',
    );
  }
}

/** Ids of calls that followed reasoning end with `1`. Their reasoning item must be sent back too. */
function checkCall(
  item: JsonObject,
  type: string,
  ids: ReadonlySet<string>,
  path: string,
  problems: RequestProblems,
): void {
  if (typeof item[type === 'function_call' ? 'arguments' : 'input'] !== 'string') {
    problems.add(`Invalid type for '${path}': expected arguments as a string.`, path, 'invalid_type');
  }
  const id = asString(item['id']);
  const seed = /^(?:fc|ctc)_sim([0-9a-f]{32})\d\d1$/.exec(id ?? '')?.[1];
  if (seed === undefined || ids.has(`rs_sim${seed}`)) return;
  problems.add(
    `Item '${id ?? ''}' of type '${type}' was provided without its required 'reasoning' item: 'rs_sim${seed}'.`,
    'input',
  );
}

function checkReasoning(body: JsonObject, traits: SimTraits, problems: RequestProblems): void {
  const { reasoning } = body;
  if (reasoning === undefined || reasoning === null) return;
  if (!isJsonObject(reasoning))
    return problems.add("Invalid type for 'reasoning': expected an object.", 'reasoning', 'invalid_type');
  const key = unknownKey(reasoning, REASONING_KEYS);
  if (key !== undefined) unknown(`reasoning.${key}`, problems);
  if (traits.reasoning === 'none') {
    return problems.add(
      "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
      'reasoning.effort',
      'unsupported_parameter',
    );
  }
  const effort: JsonValue | undefined = reasoning['effort'];
  if (effort !== undefined && effort !== null) checkEffortValue(effort, 'reasoning.effort', traits, problems);
}

function checkTools(body: JsonObject, traits: SimTraits, problems: RequestProblems): void {
  const tools = asArray(body['tools']);
  if (tools.length > 0 && !traits.tools)
    problems.add("'tools' is not supported with this model.", 'tools', 'unsupported_parameter');
  tools.forEach((value, i) => {
    const tool = asObject(value);
    const path = `tools[${i}]`;
    const type = asString(tool['type']) ?? '';
    if (type === '')
      problems.add(
        `Missing required parameter: '${path}.type'.`,
        `${path}.type`,
        'missing_required_parameter',
      );
    if (type !== 'function' && type !== 'custom') return;
    const name = asString(tool['name']);
    if (name === undefined)
      return problems.add(
        `Missing required parameter: '${path}.name'.`,
        `${path}.name`,
        'missing_required_parameter',
      );
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name)) {
      problems.add(
        `Invalid '${path}.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
        `${path}.name`,
        'invalid_value',
      );
    }
    if (tool['function'] !== undefined) unknown(`${path}.function`, problems);
    // An illegal schema is refused only if `strict` is set.
    const fault =
      type === 'function' && tool['strict'] === true ? strictFault(tool['parameters'], true) : null;
    if (fault)
      problems.add(
        strictMessage('function', name, fault),
        `${path}.parameters`,
        'invalid_function_parameters',
      );
  });
}

function checkText(body: JsonObject, traits: SimTraits, problems: RequestProblems): void {
  const format = asObject(asObject(body['text'])['format']);
  if (format['type'] !== 'json_schema') return;
  if (!traits.jsonSchema)
    return problems.add(
      "'text.format' of type 'json_schema' is not supported with this model.",
      'text.format',
      'unsupported_parameter',
    );
  const name = asString(format['name']);
  if (name === undefined)
    problems.add(
      "Missing required parameter: 'text.format.name'.",
      'text.format.name',
      'missing_required_parameter',
    );
  if (!isJsonObject(format['schema']))
    problems.add(
      "Missing required parameter: 'text.format.schema'.",
      'text.format.schema',
      'missing_required_parameter',
    );
  const fault = format['strict'] === true ? strictFault(format['schema'], true) : null;
  if (fault)
    problems.add(
      strictMessage('response_format', name ?? '', fault),
      'text.format.schema',
      'invalid_json_schema',
    );
}
