// The canonical request as a Chat Completions body for one target. Owns the top-level members; messages, tools
// and the reasoning switch have their own files.
import type {
  CanonicalRequest,
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
    answered: new Set(request.items.flatMap((item) => (item.type === 'tool_result' ? [item.callId] : []))),
  };
  const body: MutableJsonObject = { model: target.model, messages: encodeMessages(request.items, context) };
  encodeTools(body, request, context);
  body[quirks.maxTokensField] = request.maxOutputTokens;
  body['temperature'] = clampedTemperature(request, report);
  body['top_p'] = request.topP;
  body['frequency_penalty'] = request.frequencyPenalty;
  body['presence_penalty'] = request.presencePenalty;
  body['logit_bias'] = request.logitBias;
  body['logprobs'] = request.logprobs;
  body['top_logprobs'] = request.topLogprobs;
  body['seed'] = request.seed;
  body['stop'] = request.stop?.length ? request.stop : undefined;
  body['verbosity'] = request.verbosity;
  body['response_format'] =
    request.responseFormat && encodeResponseFormat(request.responseFormat, request.protocol, context.report);
  const search = request.webSearch ?? searchAmong(request.tools, context);
  body['web_search_options'] = search && encodeWebSearch(search);
  encodeReasoningSwitch(body, request, context);
  if (request.stream) {
    body['stream'] = true;
    if (quirks.streamUsage === 'include_usage') body['stream_options'] = { include_usage: true };
  }
  if (request.prefill) encodePrefill(body, request, context);
  encodeEndUser(body, request, context);
  copyExtra(body, request, context);
  for (const key of Object.keys(body)) if (body[key] === undefined) delete body[key];
  return body;
}

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
  for (const key of Object.keys(request.extra)) {
    const value = request.extra[key];
    if (value === undefined) continue;
    if (pass && key !== '__proto__' && body[key] === undefined) body[key] = value;
    else context.report.add(key, 'dropped', 'the upstream does not know this member, or its place is taken');
  }
}
