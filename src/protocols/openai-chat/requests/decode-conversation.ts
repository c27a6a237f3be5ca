// Decodes `messages` of every role into the items of a flat conversation. Items of one message share a `source` object,
// so that an encoder of this protocol can join them again.
import { asArray, asObject, asString, isJsonObject } from '../../../base/json/index.ts';
import { isEmptyText, TEXTS } from '../../../canonical/index.ts';
import type { JsonObject } from '../../../base/json/index.ts';
import type {
  Item,
  MessageItem,
  Part,
  Problems,
  Role,
  Source,
  ToolCallItem,
  Report,
} from '../../../canonical/index.ts';
import {
  ASSISTANT_PARTS,
  decodeCacheControl,
  decodeContent,
  TEXT_ONLY,
  TOOL_PARTS,
  USER_PARTS,
} from './decode-parts.ts';
import type { PartTypes } from './decode-parts.ts';
import { CallMatcher, CallsById } from '../../calls/call-ids.ts';
import { MADE_ID } from './short-call-ids.ts';
import { arrangeTurn, decodeReasoning } from '../answers/decode-reasoning-details.ts';
import type { PlacedReasoning } from '../answers/decode-reasoning-details.ts';
import {
  describe,
  readArray,
  readObject,
  readString,
  requireObject,
  requireString,
  requireStringOrEmpty,
} from '../../members/read-member.ts';
import type { Member } from '../../members/read-member.ts';

const ROLES = 'system, developer, user, assistant, tool';

/** State that is carried from one message to the next. */
interface Conversation {
  readonly problems: Problems;
  readonly report: Report;
  /** Calls so far. A result takes its tool's name and kind from its call. */
  readonly calls: CallsById<ToolCallItem>;
  /** Assigns ids to calls without one: several servers omit them, and clients return calls as received. */
  readonly matcher: CallMatcher;
  legacyCalls: number;
}

/** Decodes `messages` into items. Every problem has its path. */
export function decodeMessages(value: Member, problems: Problems, report: Report): Item[] {
  if (value === undefined || value === null) {
    problems.add('messages', 'Parameter messages is required');
    return [];
  }
  const messages = readArray(value, 'messages', problems);
  if (messages?.length === 0) problems.add('messages', 'Parameter messages can not be empty');
  const conversation: Conversation = {
    problems,
    report,
    calls: new CallsById(),
    matcher: new CallMatcher(MADE_ID),
    legacyCalls: 0,
  };
  const items: Item[] = [];
  messages?.forEach((message, index) => {
    const path = `messages[${index}]`;
    // Items are pushed singly: one message can hold more than a function call can take as arguments.
    if (isJsonObject(message))
      for (const item of decodeMessage(message, path, conversation)) items.push(item);
    else if (message === null) problems.add(path, 'Parameter messages can not contain null elements');
    else problems.add(path, TEXTS.mustBeObject(describe(message)));
  });
  return items;
}

function decodeMessage(raw: JsonObject, path: string, conversation: Conversation): readonly Item[] {
  const { problems } = conversation;
  const role = requireString(raw['role'], `${path}.role`, problems);
  switch (role) {
    case undefined:
      return [];
    case 'system':
    case 'developer':
      return decodeInput(raw, path, role, TEXT_ONLY, conversation);
    case 'user':
      return decodeInput(raw, path, role, USER_PARTS, conversation);
    case 'assistant':
      return decodeAssistant(raw, path, conversation);
    case 'tool':
      return decodeToolResult(raw, path, conversation);
    case 'function':
      problems.add(`${path}.role`, 'the role function is not accepted; use the role tool', 'unsupported');
      return [];
    default:
      problems.add(`${path}.role`, TEXTS.mustBeOneOf(ROLES));
      return [];
  }
}

function decodeInput(
  raw: JsonObject,
  path: string,
  role: Role,
  allowed: PartTypes,
  conversation: Conversation,
): readonly MessageItem[] {
  const name = readString(raw['name'], `${path}.name`, conversation.problems);
  const parts = decodeRequiredContent(raw, path, allowed, conversation);
  return [{ type: 'message', role, parts, name, path, source: toSource(raw) }];
}

function decodeToolResult(raw: JsonObject, path: string, conversation: Conversation): readonly Item[] {
  const { problems, calls, matcher } = conversation;
  const given = readString(raw['tool_call_id'], `${path}.tool_call_id`, problems) || undefined;
  const name = readString(raw['name'], `${path}.name`, problems) || undefined;
  const open = given === undefined ? matcher.openCalls(name) : 0;
  const callId = open > 1 ? undefined : (matcher.result(given, name) ?? matcher.result(undefined, undefined));
  if (callId === undefined)
    problems.add(
      `${path}.tool_call_id`,
      open > 1 ? `is required, because ${open} calls have no result yet` : 'is required',
    );
  else if (open === 1)
    conversation.report.add(`${path}.tool_call_id`, 'defaulted', 'the only call without a result');
  const parts = decodeRequiredContent(raw, path, TOOL_PARTS, conversation);
  if (callId === undefined) return [];
  const call = calls.result(callId);
  const kind = call?.kind ?? 'function';
  return [
    { type: 'tool_result', kind, callId, name: name ?? call?.name, parts, path, source: toSource(raw) },
  ];
}

function decodeRequiredContent(
  raw: JsonObject,
  path: string,
  allowed: PartTypes,
  { problems }: Conversation,
): readonly Part[] {
  const content = raw['content'];
  const parts = decodeContent(content, `${path}.content`, allowed, problems);
  if (!parts) problems.add(`${path}.content`, 'is required');
  if (Array.isArray(content) && content.length === 0) problems.add(`${path}.content`, 'must not be empty');
  return withMessageCache(parts ?? [], raw, path, problems);
}

function decodeAssistant(raw: JsonObject, path: string, conversation: Conversation): readonly Item[] {
  const { problems } = conversation;
  const source = toSource(raw);
  const before = problems.list.length;
  const decoded = decodeContent(raw['content'], `${path}.content`, ASSISTANT_PARTS, problems);
  const content = decoded?.filter((part) => !isThinking(part));
  const name = readString(raw['name'], `${path}.name`, problems);
  const given = decodeReasoning(raw, path, source, problems);
  const reasoning = given.length > 0 ? given : decodeThinking(decoded ?? [], source);
  const calls = decodeCalls(raw, path, source, conversation);
  const isClean = problems.list.length === before;

  const refusals = content?.filter((part) => part.type === 'refusal').length ?? 0;
  if (refusals > 0 && content && content.length > 1) {
    problems.add(`${path}.content`, 'must be text parts, or exactly one refusal');
  }
  const parts: Part[] = [...(content ?? [])];
  const refusal = readString(raw['refusal'], `${path}.refusal`, problems);
  if (refusal && refusals > 0) problems.add(`${path}.refusal`, 'repeats the refusal in content');
  else if (refusal) parts.push({ type: 'refusal', refusal, path: `${path}.refusal` });
  const audio = decodeAudioReference(raw['audio'], `${path}.audio`, problems);
  if (audio) parts.push(audio);

  const hasMore = calls.length > 0 || reasoning.length > 0 || parts.some((part) => !isEmptyText(part));
  const isMissing = content === undefined || (Array.isArray(raw['content']) && content.length === 0);
  if (isClean && isMissing && !hasMore) {
    problems.add(`${path}.content`, 'is required unless the message has tool_calls');
  }
  // Clients send an empty string in addition to other content for "no text". Upstreams refuse an empty block.
  const kept = hasMore ? parts.filter((part) => !isEmptyText(part)) : parts;
  if (kept.length === 0) return arrangeTurn(reasoning, calls);
  const message = withMessageCache(kept, raw, path, problems);
  return arrangeTurn(reasoning, [
    { type: 'message', role: 'assistant', parts: message, name, path, source },
    ...calls,
  ]);
}

function decodeCalls(
  raw: JsonObject,
  path: string,
  source: Source,
  conversation: Conversation,
): ToolCallItem[] {
  const { problems } = conversation;
  const calls: ToolCallItem[] = [];
  readArray(raw['tool_calls'], `${path}.tool_calls`, problems)?.forEach((element, index) => {
    const call = decodeCall(element, `${path}.tool_calls[${index}]`, source, conversation);
    if (call) calls.push(call);
  });
  const legacy = readObject(raw['function_call'], `${path}.function_call`, problems);
  if (legacy) {
    const at = `${path}.function_call`;
    const name = requireString(legacy['name'], `${at}.name`, problems);
    const text = requireStringOrEmpty(legacy['arguments'], `${at}.arguments`, problems);
    if (name !== undefined && text !== undefined) {
      const callId = `call_legacy_${++conversation.legacyCalls}`;
      calls.push({ type: 'tool_call', kind: 'function', callId, name, arguments: text, path: at, source });
    }
  }
  for (const call of calls) conversation.calls.call(call.callId, call);
  return calls;
}

function decodeCall(
  raw: Member,
  path: string,
  source: Source,
  { problems, matcher }: Conversation,
): ToolCallItem | undefined {
  if (!isJsonObject(raw)) {
    problems.add(path, TEXTS.mustBeObject(describe(raw)));
    return undefined;
  }
  const id = readString(raw['id'], `${path}.id`, problems) || undefined;
  // Compatible servers omit the type of function calls, and clients return those as received.
  const type = readString(raw['type'], `${path}.type`, problems) || 'function';
  if (type !== 'function' && type !== 'custom') {
    problems.add(`${path}.type`, 'must be function or custom');
    return undefined;
  }
  const body = requireObject(raw[type], `${path}.${type}`, problems);
  if (!body) return undefined;
  const text = type === 'custom' ? 'input' : 'arguments';
  const name = requireString(body['name'], `${path}.${type}.name`, problems);
  // Kept unchanged even if it is not JSON: the model wrote it, and a history must not fail because of it.
  const input = requireStringOrEmpty(body[text], `${path}.${type}.${text}`, problems);
  if (name === undefined || input === undefined) return undefined;
  const callId = matcher.call(id, name);
  return { type: 'tool_call', kind: type, callId, name, arguments: input, path, source };
}

/** Decodes a reference to an earlier audio answer. Only the upstream that created it knows its content. */
function decodeAudioReference(value: Member, path: string, problems: Problems): Part | undefined {
  const audio = readObject(value, path, problems);
  if (!audio) return undefined;
  const id = requireString(audio['id'], `${path}.id`, problems);
  if (id === undefined) return undefined;
  return {
    type: 'unknown',
    path,
    source: { protocol: 'openai-chat', raw: { type: 'audio', audio: { id } } },
  };
}

/** `cache_control` on a message marks its end, so it is moved to the last part. */
function withMessageCache(
  parts: readonly Part[],
  raw: JsonObject,
  path: string,
  problems: Problems,
): readonly Part[] {
  const cache = decodeCacheControl(raw['cache_control'], `${path}.cache_control`, problems);
  const last = parts.at(-1);
  if (!cache || !last || last.cache) return parts;
  return [...parts.slice(0, -1), { ...last, cache }];
}

/** True for Mistral's form of reasoning: a part of the content (docs.mistral.ai, "Reasoning", 2026-08). */
function isThinking(part: Part): boolean {
  return part.type === 'unknown' && part.source.raw['type'] === 'thinking';
}

function decodeThinking(parts: readonly Part[], source: Source): PlacedReasoning[] {
  return parts.filter(isThinking).map((part) => ({
    index: undefined,
    item: { type: 'reasoning', text: [thinkingText(part.source?.raw)], summary: [], path: part.path, source },
  }));
}

function thinkingText(raw: JsonObject | undefined): string {
  const thinking = raw?.['thinking'];
  if (typeof thinking === 'string') return thinking;
  return asArray(thinking)
    .map((piece) => asString(asObject(piece)['text']) ?? '')
    .join('');
}

function toSource(raw: JsonObject): Source {
  return { protocol: 'openai-chat', raw };
}
