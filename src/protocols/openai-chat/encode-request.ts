// The canonical request as a Chat Completions body for one target. Owns the top-level members; messages, tools
// and the reasoning switch have their own files.
import type {
  CanonicalRequest,
  Item,
  JsonObject,
  MutableJsonObject,
  ProtocolName,
  Report,
  ResponseFormat,
  Target,
  Tool,
  WebSearchOptions,
} from '../../canonical/index.ts';
import { dropEndUser } from '../end-user.ts';
import { enforceable } from '../openai/strict-schema.ts';
import { mapCallIds } from './call-ids.ts';
import type { EncodeContext } from './encode-context.ts';
import { encodeMessages } from './encode-conversation.ts';
import { encodePrefill } from './encode-prefill.ts';
import { encodeReasoningSwitch } from './encode-reasoning-switch.ts';
import { encodeTools } from './encode-tools.ts';
import { END_USER } from './fields.ts';

/** API reference, "Create chat completion", `temperature`. */
export const MAX_TEMPERATURE = 2;

/**
 * Writes the upstream body.
 * @param report takes whatever has no place in it
 * @throws GatewayError `unsupported` for content that cannot be delivered
 */
export function encodeRequest(request: CanonicalRequest, target: Target, report: Report): JsonObject {
  const { quirks } = target;
  const context: EncodeContext = {
    target,
    report,
    callId: mapCallIds(request.items, quirks.toolCallId),
    answered: answeredCalls(request.items),
  };
  const body: MutableJsonObject = { model: target.model, messages: encodeMessages(request.items, context) };
  encodeTools(body, request, context);
  const temperature = clampedTemperature(request, report);
  const { maxOutputTokens, topP, frequencyPenalty, presencePenalty, logitBias, stop, responseFormat } =
    request;
  // What was not said has no member: to take members away again makes an object slow for whoever reads it.
  if (maxOutputTokens !== undefined) body[quirks.maxTokensField] = maxOutputTokens;
  if (temperature !== undefined) body['temperature'] = temperature;
  if (topP !== undefined) body['top_p'] = topP;
  if (frequencyPenalty !== undefined) body['frequency_penalty'] = frequencyPenalty;
  if (presencePenalty !== undefined) body['presence_penalty'] = presencePenalty;
  if (logitBias !== undefined) body['logit_bias'] = logitBias;
  if (request.logprobs !== undefined) body['logprobs'] = request.logprobs;
  if (request.topLogprobs !== undefined) body['top_logprobs'] = request.topLogprobs;
  if (request.seed !== undefined) body['seed'] = request.seed;
  if (stop && stop.length > 0) body['stop'] = stop;
  if (request.verbosity !== undefined) body['verbosity'] = request.verbosity;
  const format = responseFormat && encodeResponseFormat(responseFormat, request.protocol, report);
  if (format) body['response_format'] = format;
  const search = request.webSearch ?? searchAmong(request.tools, context);
  if (search) body['web_search_options'] = encodeWebSearch(search);
  encodeReasoningSwitch(body, request, context);
  if (request.stream) {
    body['stream'] = true;
    if (quirks.streamUsage === 'include_usage') body['stream_options'] = { include_usage: true };
  }
  if (request.prefill) encodePrefill(body, request, context);
  encodeEndUser(body, request, context);
  copyExtra(body, request, context);
  return body;
}

/** Ids of the calls that have a result. */
function answeredCalls(items: readonly Item[]): ReadonlySet<string> {
  let ids: Set<string> | undefined;
  for (const item of items) if (item.type === 'tool_result') (ids ??= new Set()).add(item.callId);
  return ids ?? NO_CALLS;
}

const NO_CALLS: ReadonlySet<string> = new Set();

function clampedTemperature({ temperature }: CanonicalRequest, report: Report): number | undefined {
  if (temperature === undefined || temperature <= MAX_TEMPERATURE) return temperature;
  report.add('temperature', 'clamped', `the largest temperature is ${MAX_TEMPERATURE}`);
  return MAX_TEMPERATURE;
}

/** Text is what a model gives anyway: not every server knows the word. */
function encodeResponseFormat(
  format: ResponseFormat,
  client: ProtocolName,
  report: Report,
): JsonObject | undefined {
  switch (format.type) {
    case 'text':
      return undefined;
    case 'json_object':
      return { type: 'json_object' };
    case 'json_schema': {
      const { name, description, schema } = format;
      const strict = enforceable(format.strict, schema, client, 'response_format.strict', report);
      return { type: 'json_schema', json_schema: { name, description, schema, strict } };
    }
  }
}

/** The search that another protocol has as a tool, for servers that search. */
function searchAmong(
  tools: readonly Tool[],
  { target, report }: EncodeContext,
): WebSearchOptions | undefined {
  if (!target.quirks.searchesWeb) return undefined;
  for (const tool of tools) {
    if (tool.type !== 'hosted' || tool.meaning?.type !== 'web_search') continue;
    if (tool.source.protocol === 'openai-chat') return undefined;
    const { search } = tool.meaning;
    if (search.allowedDomains.length > 0 || search.blockedDomains.length > 0)
      report.add(`${tool.path ?? 'tools'}.filters`, 'dropped', 'the search of this server takes no domains');
    return search;
  }
  return undefined;
}

/** The canonical place is flat; Chat Completions nests it (API reference, `web_search_options.user_location`). */
function encodeWebSearch(options: WebSearchOptions): JsonObject {
  const { type = 'approximate', ...approximate } = options.userLocation ?? {};
  return {
    search_context_size: options.contextSize,
    user_location: options.userLocation && { type, approximate },
  };
}

/** Ids of users go on as the client of this protocol wrote them: few servers know them, and which of the two differs. */
function encodeEndUser(
  body: MutableJsonObject,
  request: CanonicalRequest,
  { target, report }: EncodeContext,
): void {
  if (request.protocol !== 'openai-chat')
    return dropEndUser(request, 'few servers of Chat Completions know ids of users', report);
  if (target.quirks.unknownFields === 'drop')
    return dropEndUser(request, 'the upstream does not know this member', report);
  for (const name of END_USER) {
    const value = request.raw[name];
    if (typeof value === 'string') body[name] = value;
  }
}

/** Members that no document knows go to an upstream of the client's own dialect that takes such members. */
function copyExtra(body: MutableJsonObject, request: CanonicalRequest, context: EncodeContext): void {
  const pass = request.protocol === 'openai-chat' && context.target.quirks.unknownFields === 'pass';
  for (const key in request.extra) {
    const value = request.extra[key];
    if (value === undefined) continue;
    if (pass && key !== '__proto__' && body[key] === undefined) body[key] = value;
    else context.report.add(key, 'dropped', 'the upstream does not know this member, or its place is taken');
  }
}
