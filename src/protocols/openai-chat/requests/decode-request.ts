// Decodes a Chat Completions request body into the canonical request.
import { asString, type JsonObject, type JsonValue, unknownMembers } from '../../../base/json/index.ts';
import {
  type CanonicalRequest,
  type GatewayOptions,
  Problems,
  type ReasoningRequest,
  Report,
  type ResponseFormat,
  TEXTS,
  type WebSearchOptions,
} from '../../../canonical/index.ts';
import { decodeMessages } from './decode-conversation.ts';
import { decodeToolChoice, decodeTools } from './decode-tools.ts';
import { CLIENT_NAMES, HELD_FIELDS, IGNORED_FIELDS, PASSED_FIELDS, TABLE } from '../fields.ts';
import { REQUEST_SHAPE } from '../member-shapes.ts';
import { decodeMetadata, readEffort } from '../../openai/decode-members.ts';
import { decodeGatewayOptions, decodeModelId } from '../../members/gateway-options.ts';
import { unknownBelow } from '../../members/member-shape.ts';
import {
  type Member,
  POSITIVE,
  readBoolean,
  readNumber,
  readObject,
  readString,
  readOneOf,
  requireBody,
} from '../../members/read-member.ts';
import { decodeSchemaFormat } from '../../openai/decode-schema-format.ts';
import { LEVELS } from '../member-kinds.ts';

/**
 * Decodes a parsed request body.
 * @throws GatewayError `invalid_request` or `unsupported` naming every invalid member
 */
export function decodeRequest(given: unknown): CanonicalRequest {
  const problems = new Problems();
  const body = requireBody(given, problems);
  const report = new Report();
  const model = decodeModelId(body, problems);
  const items = decodeMessages(body['messages'], problems, report);

  const before = problems.list.length;
  const tools = decodeTools(body['tools'], problems);
  const areToolsClean = problems.list.length === before;
  const choice = decodeToolChoice(body['tool_choice'], areToolsClean ? tools : undefined, problems);

  const settings = TABLE.read(body, problems);
  if (settings.topLogprobs !== undefined && settings.logprobs !== true)
    problems.add('top_logprobs', 'requires logprobs to be true');
  const reasoning = decodeReasoningRequest(body, problems, report);
  const gateway = decodeGatewayOptions(body, problems, report);
  const stream = readBoolean(body['stream'], 'stream', problems) === true;
  const streamUsage = decodeStreamUsage(body, stream, gateway, problems, report);
  const maxOutputTokens = decodeOutputLimit(body, problems, report);
  const responseFormat = decodeResponseFormat(body['response_format'], problems);
  const webSearch = decodeWebSearch(body['web_search_options'], problems);
  const metadata = decodeMetadata(body['metadata'], problems);
  TABLE.check(body, problems);
  reportIgnored(body, report);
  problems.throwIfAny();
  const hasTools = tools.length > 0;
  if (!hasTools) {
    reportUseless(choice, settings.parallelToolCalls, report);
    settings.parallelToolCalls = undefined;
  }

  return {
    protocol: 'openai-chat',
    raw: body,
    model,
    items,
    tools,
    toolChoice: hasTools ? choice : undefined,
    parallelToolCalls: undefined,
    maxOutputTokens,
    ...settings,
    responseFormat,
    reasoning,
    webSearch,
    metadata,
    stream,
    streamUsage,
    gateway,
    serviceTier: asString(body['service_tier']),
    endUser: endUserOf(body),
    extra: extraMembers(body),
    translationLosses: unknownBelow(body, REQUEST_SHAPE, 'openai-chat'),
    report: report.speakAs(CLIENT_NAMES, body),
  };
}

/** `max_tokens` limits the cost of a call, so it is honoured although its successor has a different meaning. */
function decodeOutputLimit(body: JsonObject, problems: Problems, report: Report): number | undefined {
  const limit = readNumber(body['max_completion_tokens'], 'max_completion_tokens', problems, POSITIVE);
  const legacy = readNumber(body['max_tokens'], 'max_tokens', problems, POSITIVE);
  if (legacy === undefined) return limit;
  if (limit !== undefined) {
    report.add('max_tokens', 'dropped', '`max_completion_tokens` takes precedence');
    return limit;
  }
  report.add(
    'max_tokens',
    'approximated',
    'deprecated: used as `max_completion_tokens`, which includes reasoning tokens',
  );
  return legacy;
}

/** Reports two members that have no effect without tools. Upstreams refuse them. */
function reportUseless(
  choice: CanonicalRequest['toolChoice'],
  parallel: CanonicalRequest['parallelToolCalls'],
  report: Report,
): void {
  if (choice) report.add('tool_choice', 'dropped', TEXTS.noTools);
  if (parallel !== undefined) report.add('parallel_tool_calls', 'dropped', TEXTS.noTools);
}

/** Returns members for upstreams of the client's own protocol: undocumented ones, and those left to the vendor. */
function extraMembers(body: JsonObject): JsonObject {
  const extra = unknownMembers(body, HELD_FIELDS);
  if (!extra) return NO_MEMBERS;
  for (const name in extra) if (isDefault(name, extra[name])) return statedMembers(extra);
  return extra;
}

/** True for null in a member that is left to the vendor. */
function isDefault(name: string, value: JsonValue | undefined): boolean {
  return value === null && PASSED_FIELDS.has(name);
}

function statedMembers(extra: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(extra).filter(([name, value]) => !isDefault(name, value)));
}

const NO_MEMBERS: JsonObject = Object.freeze({});

/** Reports documented members that are dropped, so that the request succeeds. */
function reportIgnored(body: JsonObject, report: Report): void {
  for (const name of IGNORED_FIELDS) {
    if (body[name] !== undefined && body[name] !== null)
      report.add(name, 'dropped', 'not supported by this endpoint');
  }
}

// Parameters that are objects: response format and web search (OpenAI API reference, "Create chat completion").

/** Decodes `response_format`. Its schema is nested below `json_schema` in this protocol. */
function decodeResponseFormat(value: Member, problems: Problems): ResponseFormat | undefined {
  const raw = readObject(value, 'response_format', problems);
  if (!raw) return undefined;
  const types = ['text', 'json_object', 'json_schema'] as const;
  const type = readOneOf(raw['type'] ?? '', 'response_format.type', problems, types);
  if (type === undefined) return undefined;
  const schema =
    type === 'json_object' ? readObject(raw['schema'], 'response_format.schema', problems) : undefined;
  // Older form of llama.cpp, Together and Fireworks (their documentation, 2026-11), converted to the newer one.
  if (schema) return { type: 'json_schema', name: 'answer', schema };
  if (type !== 'json_schema') return { type };
  const path = 'response_format.json_schema';
  const body = readObject(raw['json_schema'], path, problems);
  if (!body) {
    if (raw['json_schema'] === undefined || raw['json_schema'] === null) problems.add(path, 'is required');
    return undefined;
  }
  return decodeSchemaFormat(body, path, problems);
}

/**
 * Decodes `web_search_options`. An empty object enables search. The location can be nested below `approximate` (OpenAI)
 * or flat; the canonical form is flat.
 */
function decodeWebSearch(value: Member, problems: Problems): WebSearchOptions | undefined {
  const raw = readObject(value, 'web_search_options', problems);
  if (!raw) return undefined;
  const size = 'web_search_options.search_context_size';
  const contextSize = readOneOf(raw['search_context_size'], size, problems, LEVELS);
  const path = 'web_search_options.user_location';
  const location = readObject(raw['user_location'], path, problems);
  if (!location) return { contextSize };
  readOneOf(location['type'], `${path}.type`, problems, ['approximate'] as const);
  const isNested = location['approximate'] !== undefined;
  const at = isNested ? `${path}.approximate` : path;
  const place = isNested ? readObject(location['approximate'], at, problems) : location;
  const userLocation = {
    type: 'approximate',
    city: readString(place?.['city'], `${at}.city`, problems),
    country: readString(place?.['country'], `${at}.country`, problems),
    region: readString(place?.['region'], `${at}.region`, problems),
    timezone: readString(place?.['timezone'], `${at}.timezone`, problems),
  };
  return { contextSize, userLocation };
}

// Reasoning members and `stream_options`. The effect of reasoning on a model is decided elsewhere.

const SUMMARIES = ['auto', 'concise', 'detailed'] as const;
const REASONING_MEMBERS: ReadonlySet<string> = new Set([
  'enabled',
  'effort',
  'max_tokens',
  'exclude',
  'summary',
  'usage',
]);

/** Decodes `reasoning`, `reasoning_effort` and `include_reasoning`. The more specific effort wins. */
function decodeReasoningRequest(body: JsonObject, problems: Problems, report: Report): ReasoningRequest {
  const raw = readObject(body['reasoning'], 'reasoning', problems) ?? NO_MEMBERS;
  const top = readEffort(body['reasoning_effort'], 'reasoning_effort', problems);
  const own = readEffort(raw['effort'], 'reasoning.effort', problems);
  const maxTokens = readNumber(raw['max_tokens'], 'reasoning.max_tokens', problems, POSITIVE);
  const exclude = readBoolean(raw['exclude'], 'reasoning.exclude', problems);
  const include = readBoolean(body['include_reasoning'], 'include_reasoning', problems);
  if (include !== undefined && exclude !== undefined && include === exclude) {
    problems.add('include_reasoning', 'Parameter include_reasoning conflict with reasoning.exclude');
  }
  for (const key in raw) {
    if (!REASONING_MEMBERS.has(key)) report.add(`reasoning.${key}`, 'dropped', 'not a member of reasoning');
  }
  return {
    enabled: readBoolean(raw['enabled'], 'reasoning.enabled', problems) ?? own.enabled ?? top.enabled,
    effort: own.effort ?? top.effort,
    maxTokens,
    exclude: exclude ?? (include === undefined ? undefined : !include),
    summary: readOneOf(raw['summary'], 'reasoning.summary', problems, SUMMARIES),
  };
}

/**
 * Decodes `stream_options.include_usage`, and checks that it agrees with `stream` and `usage.include`.
 * @returns undefined if the client did not specify it
 */
function decodeStreamUsage(
  body: JsonObject,
  stream: boolean,
  gateway: GatewayOptions,
  problems: Problems,
  report: Report,
): boolean | undefined {
  const options = readObject(body['stream_options'], 'stream_options', problems);
  if (!options) return undefined;
  if (!stream) {
    problems.add('stream_options', TEXTS.streamOptionsAlone);
  }
  const includeUsage = readBoolean(options['include_usage'], 'stream_options.include_usage', problems);
  if (includeUsage === false && gateway.includeUsage === true) {
    const path = 'stream_options.include_usage';
    problems.add(path, 'Parameter stream_options.include_usage conflict with usage.include');
  }
  for (const key in options) {
    // Chunks are never obfuscated, so only a request for obfuscation is reported.
    if (key === 'include_usage' || (key === 'include_obfuscation' && options[key] !== true)) continue;
    report.add(`stream_options.${key}`, 'dropped', TEXTS.ownStream);
  }
  return includeUsage;
}

/** Returns the opaque id of the client's end user; undefined if absent. */
export function endUserOf(body: JsonObject): string | undefined {
  return asString(body['safety_identifier']) || asString(body['user']) || undefined;
}
