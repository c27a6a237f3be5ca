// The canonical request as a Chat Completions body for one target. Owns the top-level members; messages, tools
// and the reasoning switch have their own files.
import { isJsonObject } from '../../base/json/index.ts';
import type { JsonObject, MutableJsonObject } from '../../base/json/index.ts';
import type {
  CanonicalRequest,
  Item,
  ProtocolName,
  Report,
  ResponseFormat,
  Target,
  Tool,
  WebSearchOptions,
} from '../../canonical/index.ts';
import { dropEndUser } from '../end-user.ts';
import { copySharedMembers, isServersOwn, sharesMembers, SHARED_MEMBERS } from '../openai/shared-members.ts';
import { enforceable } from '../openai/strict-schema.ts';
import { mapCallIds } from './call-ids.ts';
import type { EncodeContext } from './encode-context.ts';
import { encodeMessages } from './encode-conversation.ts';
import { encodePrefill } from './encode-prefill.ts';
import { encodeReasoningSwitch } from './encode-reasoning-switch.ts';
import { encodeTools } from './encode-tools.ts';
import { TABLE } from './fields.ts';

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
  const { maxOutputTokens, responseFormat } = request;
  if (maxOutputTokens !== undefined) body[limitName(request, quirks)] = maxOutputTokens;
  TABLE.write(body, { request, target, report });
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
  encodeShared(body, request, context);
  copyExtra(body, request, context);
  return body;
}

/** The name of the output limit. */
function limitName({ protocol, raw }: CanonicalRequest, { maxTokensField }: Target['quirks']): string {
  if (maxTokensField !== 'as_written') return maxTokensField;
  // The newer name counts where a client wrote both.
  const isNewer = protocol === 'openai-chat' && typeof raw['max_completion_tokens'] === 'number';
  return isNewer ? 'max_completion_tokens' : 'max_tokens';
}

/** Ids of the calls that have a result. */
function answeredCalls(items: readonly Item[]): ReadonlySet<string> {
  let ids: Set<string> | undefined;
  for (const item of items) if (item.type === 'tool_result') (ids ??= new Set()).add(item.callId);
  return ids ?? NO_CALLS;
}

const NO_CALLS: ReadonlySet<string> = new Set();

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

/** Members that OpenAI refuses here unless answers are stored, which nobody is asked to do (a 400, seen 2024 to 2026). */
const NEED_STORE: ReadonlySet<string> = new Set(['metadata']);

/** Ids of users and the like go on as clients of OpenAI's protocols wrote them: servers differ in which of them they know. */
function encodeShared(
  body: MutableJsonObject,
  request: CanonicalRequest,
  { target, report }: EncodeContext,
): void {
  if (!sharesMembers(request.protocol, 'openai-chat'))
    return dropEndUser(request, 'few servers of Chat Completions know ids of users', report);
  copySharedMembers(body, request, target, report, { needStore: NEED_STORE });
}

/**
 * Members that no document knows go to an upstream of the client's own dialect that takes such members; those of Responses
 * go to servers that operators run as well. Where the gateway has written an object too, the client's members count.
 */
function copyExtra(body: MutableJsonObject, request: CanonicalRequest, context: EncodeContext): void {
  const { quirks, isPrivate } = context.target;
  const takes = quirks.unknownFields === 'pass';
  const isShared = sharesMembers(request.protocol, 'openai-chat');
  for (const key in request.extra) {
    const value = request.extra[key];
    if (value === undefined || (isShared && SHARED_MEMBERS.has(key))) continue;
    const isKnown = request.protocol === 'openai-chat' || (isShared && isPrivate && isServersOwn(key));
    const written = body[key];
    if (takes && isKnown && key !== '__proto__' && written === undefined) body[key] = value;
    else if (takes && isKnown && isJsonObject(written) && isJsonObject(value) && Object.hasOwn(body, key))
      body[key] = { ...written, ...value };
    else context.report.add(key, 'dropped', 'the upstream does not know this member, or its place is taken');
  }
}
