// Validates requests like OpenAI's Chat Completions, and like DeepSeek and a small compatible server. Messages
// imitate the services' own, mostly from memory. Parameters that only a proxy understands must be rejected here.
import type { JsonObject, JsonValue } from '../src/base/json/index.ts';
import { asArray, asNumber, asObject, asString, isJsonArray, isJsonObject } from '../src/base/json/index.ts';
import type { RequestProblems } from './request-problems.ts';
import { EFFORT_TOKENS, strictFault, unknownKey } from './conversation.ts';
import type { SimTraits } from './models.ts';

/** Members of a request, from the reference of `POST /chat/completions` (openai 7.57). */
const BODY_KEYS = new Set(
  (
    'messages model audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens ' +
    'metadata modalities moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_options ' +
    'prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier stop store stream ' +
    'stream_options temperature tool_choice tools top_logprobs top_p user verbosity web_search_options'
  ).split(' '),
);
const MESSAGE_KEYS: Readonly<Record<string, ReadonlySet<string>>> = {
  system: new Set(['role', 'content', 'name']),
  developer: new Set(['role', 'content', 'name']),
  user: new Set(['role', 'content', 'name']),
  // `annotations` are returned by the service, and its SDK sends them back.
  assistant: new Set([
    'role',
    'content',
    'name',
    'refusal',
    'audio',
    'tool_calls',
    'function_call',
    'annotations',
  ]),
  // `name` appeared in OpenAI's first examples, and many clients still send it.
  tool: new Set(['role', 'content', 'tool_call_id', 'name']),
  function: new Set(['role', 'content', 'name']),
};
const PART_KEYS: Readonly<Record<string, ReadonlySet<string>>> = {
  // OpenAI's Agents SDK also sends `role`.
  text: new Set(['type', 'text', 'role']),
  refusal: new Set(['type', 'refusal']),
  image_url: new Set(['type', 'image_url']),
  input_audio: new Set(['type', 'input_audio']),
  file: new Set(['type', 'file']),
};
const RANGES: readonly (readonly [string, number, number])[] = [
  ['temperature', 0, 2],
  ['top_p', 0, 1],
  ['frequency_penalty', -2, 2],
  ['presence_penalty', -2, 2],
  ['top_logprobs', 0, 20],
];
const LONGEST_CALL_ID = 40;

/** Adds the problems of a Chat Completions request. */
export function checkChat(body: JsonObject, traits: SimTraits, problems: RequestProblems): void {
  if (!traits.deepseek) {
    const key = unknownKey(body, BODY_KEYS);
    if (key !== undefined) problems.add(`Unrecognized request argument supplied: ${key}`);
  }
  const messages = body['messages'];
  if (!isJsonArray(messages))
    problems.add("Missing required parameter: 'messages'.", 'messages', 'missing_required_parameter');
  else if (messages.length === 0) {
    problems.add(
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      'messages',
      'empty_array',
    );
  } else {
    messages.forEach((message, i) => checkMessage(asObject(message), `messages[${i}]`, traits, problems));
    checkCalls(messages, problems);
    if (traits.deepseek) checkReasoningContent(messages, body, problems);
  }
  checkNumbers(body, problems);
  checkTools(body, traits, problems);
  checkFormat(body, traits, problems);
  checkEffort(body, traits, problems);
}

function checkMessage(message: JsonObject, path: string, traits: SimTraits, problems: RequestProblems): void {
  const role = asString(message['role']) ?? '';
  const keys = MESSAGE_KEYS[role];
  if (!keys || (traits.deepseek && role === 'developer')) {
    return problems.add(
      `Invalid value: '${role}'. Supported values are: 'system', 'user', 'assistant', 'tool'.`,
      `${path}.role`,
      'invalid_value',
    );
  }
  if (!traits.deepseek) {
    const key = unknownKey(message, keys);
    if (key !== undefined)
      problems.add(`Unknown parameter: '${path}.${key}'.`, `${path}.${key}`, 'unknown_parameter');
  }
  const { content } = message;
  if (typeof content === 'string') return;
  if (isJsonArray(content)) {
    if (content.length === 0 && role !== 'assistant')
      problems.add(`Invalid '${path}.content': empty array.`, `${path}.content`, 'empty_array');
    return content.forEach((part, i) => checkPart(asObject(part), `${path}.content[${i}]`, traits, problems));
  }
  const optional =
    role === 'assistant' &&
    (message['tool_calls'] ?? message['function_call'] ?? message['audio'] ?? message['refusal']) != null;
  if (!optional)
    problems.add(
      `Invalid value for 'content': expected a string, got null.`,
      `${path}.content`,
      'invalid_type',
    );
}

function checkPart(part: JsonObject, path: string, traits: SimTraits, problems: RequestProblems): void {
  const keys = PART_KEYS[asString(part['type']) ?? ''];
  if (!keys)
    return problems.add(`Invalid value: '${asString(part['type']) ?? ''}'.`, `${path}.type`, 'invalid_value');
  const key = traits.deepseek ? undefined : unknownKey(part, keys);
  if (key !== undefined)
    problems.add(`Unknown parameter: '${path}.${key}'.`, `${path}.${key}`, 'unknown_parameter');
  if (part['type'] === 'text' && typeof part['text'] !== 'string') {
    problems.add(`Missing required parameter: '${path}.text'.`, `${path}.text`, 'missing_required_parameter');
  }
}

/** Every call must be answered by the messages that follow it, and each answer must belong to a call. */
function checkCalls(messages: readonly JsonValue[], problems: RequestProblems): void {
  let open = new Set<string>();
  let answered = new Set<string>();
  let at = 0;
  const close = (): void => {
    if (open.size === 0) return;
    problems.add(
      `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(', ')}`,
      `messages.[${at}].role`,
    );
  };
  messages.forEach((value, i) => {
    const message = asObject(value);
    if (message['role'] === 'tool') {
      const id = asString(message['tool_call_id']) ?? '';
      if (!open.delete(id) && !answered.has(id)) {
        problems.add(
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
          `messages.[${i}].role`,
        );
      }
      answered.add(id);
      return;
    }
    close();
    open = new Set();
    answered = new Set();
    at = i;
    asArray(message['tool_calls']).forEach((call, j) => {
      const id = asString(asObject(call)['id']) ?? '';
      open.add(id);
      if (id.length > LONGEST_CALL_ID) {
        const path = `messages[${i}].tool_calls[${j}].id`;
        problems.add(
          `Invalid '${path}': string too long. Expected a string with maximum length ${LONGEST_CALL_ID}, but got a string with length ${id.length} instead.`,
          path,
          'string_above_max_length',
        );
      }
    });
  });
  close();
}

/** DeepSeek, guide "Thinking Mode / Tool Calls": calls made while thinking must be sent back with their reasoning. */
function checkReasoningContent(
  messages: readonly JsonValue[],
  body: JsonObject,
  problems: RequestProblems,
): void {
  if (asObject(body['thinking'])['type'] === 'disabled' || body['reasoning_effort'] === 'none') return;
  messages.forEach((value, i) => {
    const message = asObject(value);
    if (message['role'] !== 'assistant' || asArray(message['tool_calls']).length === 0) return;
    if (typeof message['reasoning_content'] !== 'string') {
      problems.add(
        `Missing \`reasoning_content\` field in the assistant message at message index ${i}: in thinking mode it must be passed back with the tool calls.`,
        null,
        'invalid_request_error',
      );
    }
  });
}

function checkNumbers(body: JsonObject, problems: RequestProblems): void {
  for (const [name, low, high] of RANGES) {
    const value = body[name];
    if (value === undefined || value === null) continue;
    const number = asNumber(value);
    if (number === undefined)
      problems.add(`Invalid type for '${name}': expected a number.`, name, 'invalid_type');
    else if (number < low)
      problems.add(
        `Invalid '${name}': decimal below minimum value. Expected a value >= ${low}.`,
        name,
        'decimal_below_min_value',
      );
    else if (number > high)
      problems.add(
        `Invalid '${name}': decimal above maximum value. Expected a value <= ${high}.`,
        name,
        'decimal_above_max_value',
      );
  }
  if (body['max_tokens'] != null && body['max_completion_tokens'] != null) {
    problems.add(
      "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
      null,
      'invalid_parameter_combination',
    );
  }
  for (const name of ['max_tokens', 'max_completion_tokens']) {
    const value = body[name];
    if (value != null && !((asNumber(value) ?? 0) >= 1))
      problems.add(
        `Invalid '${name}': integer below minimum value. Expected a value >= 1.`,
        name,
        'integer_below_min_value',
      );
  }
  if (body['n'] != null && body['n'] !== 1)
    problems.add("Invalid value for 'n': the simulated models return one choice.", 'n', 'invalid_value');
  if (body['top_logprobs'] != null && body['logprobs'] !== true) {
    problems.add("Invalid value for 'top_logprobs': requires 'logprobs' to be true.", 'top_logprobs');
  }
  if (body['stream_options'] != null && body['stream'] !== true) {
    problems.add(
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      'stream_options',
    );
  }
  if (asArray(body['stop']).length > 4)
    problems.add(
      "Invalid 'stop': array too long. Expected an array with maximum length 4.",
      'stop',
      'array_above_max_length',
    );
}

function checkTools(body: JsonObject, traits: SimTraits, problems: RequestProblems): void {
  const tools = asArray(body['tools']);
  if (isJsonArray(body['tools']) && tools.length === 0 && !traits.deepseek) {
    problems.add(
      "Invalid 'tools': empty array. Expected an array with minimum length 1.",
      'tools',
      'empty_array',
    );
  }
  if (tools.length > 0 && !traits.tools)
    problems.add("'tools' is not supported with this model.", 'tools', 'unsupported_parameter');
  tools.forEach((value, i) => {
    const tool = asObject(value);
    const custom = tool['type'] === 'custom' && !traits.deepseek;
    const inner = asObject(custom ? tool['custom'] : tool['function']);
    const path = `tools[${i}].${custom ? 'custom' : 'function'}`;
    if (tool['type'] !== 'function' && !custom) {
      return problems.add(
        `Invalid value: '${asString(tool['type']) ?? ''}'. Supported values are: 'function' and 'custom'.`,
        `tools[${i}].type`,
        'invalid_value',
      );
    }
    const key = traits.deepseek
      ? undefined
      : unknownKey(tool, new Set(['type', custom ? 'custom' : 'function']));
    if (key !== undefined)
      problems.add(`Unknown parameter: 'tools[${i}].${key}'.`, `tools[${i}].${key}`, 'unknown_parameter');
    const name = asString(inner['name']) ?? '';
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
      problems.add(
        `Invalid '${path}.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
        `${path}.name`,
        'invalid_value',
      );
    }
    const fault = inner['strict'] === true ? strictFault(inner['parameters'], true) : null;
    if (fault)
      problems.add(
        strictMessage('function', name, fault),
        `${path}.parameters`,
        'invalid_function_parameters',
      );
  });
  for (const name of ['tool_choice', 'parallel_tool_calls']) {
    if (
      body[name] != null &&
      tools.length === 0 &&
      !traits.deepseek &&
      asArray(body['functions']).length === 0
    ) {
      problems.add(`'${name}' is only allowed when 'tools' are specified.`, name);
    }
  }
}

function checkFormat(body: JsonObject, traits: SimTraits, problems: RequestProblems): void {
  const format = asObject(body['response_format']);
  if (format['type'] !== 'json_schema' && format['type'] !== 'json_object') return;
  if (format['type'] === 'json_schema' && !traits.jsonSchema) {
    return problems.add(
      'This response_format type is unavailable with this model.',
      'response_format',
      'invalid_request_error',
    );
  }
  if (format['type'] === 'json_object') {
    if (!traits.tools)
      problems.add(
        'This response_format type is unavailable with this model.',
        'response_format',
        'invalid_request_error',
      );
    else if (!/json/i.test(JSON.stringify(body['messages']) ?? '')) {
      problems.add(
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
        'messages',
      );
    }
    return;
  }
  const inner = asObject(format['json_schema']);
  const name = asString(inner['name']) ?? '';
  if (!isJsonObject(inner['schema']) && inner['schema'] !== undefined)
    problems.add("Invalid type for 'response_format.json_schema.schema'.", 'response_format');
  if (name === '')
    problems.add(
      "Missing required parameter: 'response_format.json_schema.name'.",
      'response_format.json_schema.name',
      'missing_required_parameter',
    );
  const fault = inner['strict'] === true ? strictFault(inner['schema'], true) : null;
  if (fault) problems.add(strictMessage('response_format', name, fault), 'response_format');
}

/**
 * Message about a schema that violates strict mode. OpenAI, "Structured outputs / Supported schemas": objects must be
 * closed, and all members required.
 */
export function strictMessage(
  what: string,
  name: string,
  fault: NonNullable<ReturnType<typeof strictFault>>,
): string {
  const place = `In context=(${fault.path.map((step) => `'${step}'`).join(', ')})`;
  const lack =
    fault.fault === 'open'
      ? "'additionalProperties' is required to be supplied and to be false."
      : "'required' is required to be supplied and to be an array including every key in properties.";
  return `Invalid schema for ${what} '${name}': ${place}, ${lack}`;
}

function checkEffort(body: JsonObject, traits: SimTraits, problems: RequestProblems): void {
  const effort = body['reasoning_effort'];
  if (effort === undefined || effort === null) return;
  if (traits.reasoning === 'none')
    return problems.add('Unrecognized request argument supplied: reasoning_effort');
  checkEffortValue(effort, 'reasoning_effort', traits, problems);
}

/** Adds a problem: an unknown effort, or one that a model with mandatory reasoning does not accept. */
export function checkEffortValue(
  effort: JsonValue,
  path: string,
  traits: SimTraits,
  problems: RequestProblems,
): void {
  const known = typeof effort === 'string' && Object.hasOwn(EFFORT_TOKENS, effort);
  const refused =
    traits.reasoning === 'mandatory' &&
    !['minimal', 'low', 'medium', 'high'].includes(asString(effort) ?? '');
  if (!known || refused) {
    const values =
      traits.reasoning === 'mandatory'
        ? "'minimal', 'low', 'medium', and 'high'"
        : "'none', 'minimal', 'low', 'medium', 'high', and 'xhigh'";
    problems.add(
      `Unsupported value: '${String(effort)}' is not supported with the '${traits.name}' model. Supported values are: ${values}.`,
      path,
      'unsupported_value',
    );
  }
}
