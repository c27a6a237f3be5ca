// Encodes the canonical request as a Chat Completions body for one target. Messages and tools have files of their own.
import { asArray, isJsonObject, type JsonObject, type MutableJsonObject } from '../../../base/json/index.ts';
import type {
  CanonicalRequest,
  Item,
  ProtocolName,
  Report,
  ResponseFormat,
  Target,
  Tool,
  WebSearchOptions,
} from '../../../canonical/index.ts';
import { dropEndUser } from '../../end-user.ts';
import {
  copySharedMembers,
  isServerMember,
  SHARED_MEMBERS,
  sharesMembers,
} from '../../openai/shared-members.ts';
import { enforceable } from '../../openai/strict-schema.ts';
import { mapCallIds } from './short-call-ids.ts';
import type { EncodeContext } from './encode-context.ts';
import { encodeMessages } from './encode-conversation.ts';
import { encodeTools } from './encode-tools.ts';
import { TABLE } from '../fields.ts';
import { reportPrefill } from '../../content/prefill.ts';

/**
 * Encodes the upstream body.
 * @param report takes whatever cannot be expressed
 * @throws GatewayError `unsupported` for content that cannot be sent
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

/** Returns the name of the output limit. */
function limitName({ protocol, raw }: CanonicalRequest, { maxTokensField }: Target['quirks']): string {
  if (maxTokensField !== 'as_written') return maxTokensField;
  // If a client sent both, the newer name wins.
  const isNewer = protocol === 'openai-chat' && typeof raw['max_completion_tokens'] === 'number';
  return isNewer ? 'max_completion_tokens' : 'max_tokens';
}

/** Returns the ids of the calls that have a result. */
function answeredCalls(items: readonly Item[]): ReadonlySet<string> {
  let ids: Set<string> | undefined;
  for (const item of items) if (item.type === 'tool_result') (ids ??= new Set()).add(item.callId);
  return ids ?? NO_CALLS;
}

const NO_CALLS: ReadonlySet<string> = new Set();

/** `text` is the default and therefore omitted: not every server knows the value. */
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

/** Returns the options of a web-search tool from another protocol, for servers that search. */
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
      report.add(
        `${tool.path ?? 'tools'}.filters`,
        'dropped',
        "this server's search does not support domains",
      );
    return search;
  }
  return undefined;
}

/** The canonical location is flat; Chat Completions nests it (API reference, `web_search_options.user_location`). */
function encodeWebSearch(options: WebSearchOptions): JsonObject {
  const { type = 'approximate', ...approximate } = options.userLocation ?? {};
  return {
    search_context_size: options.contextSize,
    user_location: options.userLocation && { type, approximate },
  };
}

/**
 * Members that OpenAI refuses unless answers are stored, which the gateway never requests (status 400, seen 2024 to
 * 2026).
 */
const NEED_STORE: ReadonlySet<string> = new Set(['metadata']);

/** Copies members such as user ids as clients of OpenAI's protocols wrote them: servers differ in their support. */
function encodeShared(
  body: MutableJsonObject,
  request: CanonicalRequest,
  { target, report }: EncodeContext,
): void {
  if (!sharesMembers(request.protocol, 'openai-chat'))
    return dropEndUser(request, 'most Chat Completions servers do not support user ids', report);
  copySharedMembers(body, request, target, report, { needStore: NEED_STORE });
}

/**
 * Copies undocumented members to upstreams of the client's own protocol that accept them. Members of Responses clients
 * are also sent to self-hosted servers. If the gateway wrote an object with the same name, both are merged, and the
 * client's members win.
 */
function copyExtra(body: MutableJsonObject, request: CanonicalRequest, context: EncodeContext): void {
  const { quirks, isPrivate } = context.target;
  const takes = quirks.unknownFields === 'pass';
  const isShared = sharesMembers(request.protocol, 'openai-chat');
  for (const key in request.extra) {
    const value = request.extra[key];
    if (value === undefined || (isShared && SHARED_MEMBERS.has(key))) continue;
    const isKnown = request.protocol === 'openai-chat' || (isShared && isPrivate && isServerMember(key));
    const written = body[key];
    if (takes && isKnown && key !== '__proto__' && written === undefined) body[key] = value;
    else if (takes && isKnown && isJsonObject(written) && isJsonObject(value) && Object.hasOwn(body, key))
      body[key] = { ...written, ...value };
    else context.report.add(key, 'dropped', 'the upstream does not support this field, or already uses it');
  }
}

// Prefill: the target continues the last message instead of answering it.

/**
 * Marks the last message, one of the assistant, as the beginning of the answer. Sources: Mistral, API reference,
 * `AssistantMessage.prefix`; Moonshot and DashScope, "Partial Mode"; vLLM, "Extra parameters" (all 2026). A target
 * without such a mark gets the message unchanged and may begin a new answer, which is reported.
 * @param body with its `messages`
 */
function encodePrefill(
  body: MutableJsonObject,
  request: CanonicalRequest,
  { target, report }: EncodeContext,
): void {
  const style = target.quirks.prefill;
  const messages = asArray(body['messages']);
  const last = messages.at(-1);
  if (style === 'none' || !isJsonObject(last) || last['role'] !== 'assistant') {
    reportPrefill(request, report);
    return;
  }
  if (style === 'continue_final_message') {
    body['continue_final_message'] = true;
    body['add_generation_prompt'] = false;
  } else if (style !== 'plain') body['messages'] = [...messages.slice(0, -1), { ...last, [style]: true }];
}

// Reasoning switch: writes the engine's decision into the one member that the target knows.

/** Writes the target's reasoning member, or reports that it has none. */
function encodeReasoningSwitch(
  body: MutableJsonObject,
  request: CanonicalRequest,
  context: EncodeContext,
): void {
  const { reasoning, reasoningStyle, quirks } = context.target;
  if (reasoning.mode === 'unset') return;
  const on = reasoning.mode === 'on';
  const effort = on ? reasoning.effort : undefined;
  const takesBudget = reasoningStyle === 'budget' || reasoningStyle === 'both';
  const budget = on && takesBudget ? reasoning.budgetTokens : undefined;
  switch (quirks.reasoningField) {
    case 'reasoning_effort':
      body['reasoning_effort'] = on ? effort : 'none';
      break;
    case 'reasoning':
      // OpenRouter accepts either an effort or a budget (guide "Reasoning Tokens", 2026-08).
      if (!on) body['reasoning'] = { enabled: false };
      else if (budget !== undefined) body['reasoning'] = { max_tokens: budget };
      else body['reasoning'] = effort === undefined ? { enabled: true } : { effort };
      break;
    case 'thinking':
      body['thinking'] = { type: on ? 'enabled' : 'disabled', budget_tokens: budget };
      if (reasoningStyle === 'effort' || reasoningStyle === 'both') body['reasoning_effort'] = effort;
      break;
    case 'enable_thinking':
      body['enable_thinking'] = on;
      body['thinking_budget'] = budget;
      break;
    case 'chat_template_kwargs':
      body['chat_template_kwargs'] = { enable_thinking: on };
      break;
    case 'none': {
      const { enabled, effort: word, maxTokens } = request.reasoning;
      if (enabled === undefined && word === undefined && maxTokens === undefined) break;
      context.report.add('reasoning', 'dropped', 'the upstream has no field that controls reasoning');
    }
  }
}
