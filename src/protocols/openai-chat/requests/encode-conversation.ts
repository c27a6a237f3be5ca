// Encodes the flat conversation as `messages`: groups items into messages, and applies the target's rules for roles.
import type { JsonObject, JsonValue, MutableJsonObject } from '../../../base/json/index.ts';
import type { Item, MessageItem, Part, TextPart, ToolResultItem } from '../../../canonical/index.ts';
import { isJsonArray } from '../../../base/json/index.ts';
import { isAssistantItem, TEXTS, unresolvedReference } from '../../../canonical/index.ts';
import { encodeAssistant, encodeName } from './encode-assistant.ts';
import type { EncodeContext } from './encode-context.ts';
import { copyMessageMembers, ownRaw, messagePath } from './encode-context.ts';
import { encodeContent, encodePart } from './encode-parts.ts';

/** Encodes a conversation. @throws GatewayError `unsupported` for content that cannot be sent */
export function encodeMessages(items: readonly Item[], context: EncodeContext): MutableJsonObject[] {
  const messages: MutableJsonObject[] = [];
  /** Attachments of the tool results so far. They follow the last result of a run. */
  let attachments: Part[] = [];
  let turn: Item[] = [];
  /** Calls of the last turn without a result so far, and messages that must not stand between a call and its result. */
  const open = new Set<string>();
  let waiting: MessageItem[] = [];
  const endTurn = (): void => {
    if (turn.length === 0) return;
    const message = encodeAssistant(turn, context);
    if (message) messages.push(message);
    turn = [];
  };
  const endResults = (): void => {
    if (attachments.length === 0) return;
    messages.push({ role: 'user', content: attachments.map((part) => encodePart(part, context)) });
    attachments = [];
  };
  const endWaiting = (): void => {
    endResults();
    for (const item of waiting) messages.push(encodeInput(item, context));
    waiting = [];
  };
  for (const item of items) {
    if (item.type === 'tool_result') {
      endTurn();
      if (!open.delete(item.callId) && waiting.length > 0) endWaiting();
      if (waiting.length > 0) context.report.add(item.path ?? 'messages', 'approximated', TEXTS.resultsMoved);
      messages.push(encodeToolResult(item, attachments, context));
    } else if (isAssistantItem(item)) {
      endWaiting();
      if (turn.length === 0) open.clear();
      if (!belongs(turn, item)) endTurn();
      turn.push(item);
      // A client of this protocol has put its messages in order itself.
      if (item.type === 'tool_call' && !rawMessage(item)) open.add(item.callId);
    } else if (item.type === 'message') {
      endTurn();
      if (open.size > 0) waiting.push(item);
      else {
        endWaiting();
        messages.push(encodeInput(item, context));
      }
    } else if (item.type === 'reference') {
      throw unresolvedReference(item);
    }
  }
  endTurn();
  endWaiting();
  const { mergeSystem, adjacentRoles } = context.target.quirks;
  const arranged = mergeSystem ? mergeSystemMessages(messages, items, context) : messages;
  return adjacentRoles === 'merge' ? mergeAdjacent(arranged) : arranged;
}

/**
 * True if an item continues the turn. Adjacent assistant items are one turn unless the client sent them as different
 * messages. Items of one message share their raw form, or its path if they were stored in between.
 */
function belongs(turn: readonly Item[], item: Item): boolean {
  const own = rawMessage(item);
  if (!own) return true;
  for (const other of turn) {
    const raw = rawMessage(other);
    if (raw) return raw === own || (item.path !== undefined && messagePath([item]) === messagePath([other]));
  }
  return true;
}

/** Returns the message that an item was decoded from. The raw form of an unknown item is only the item itself. */
function rawMessage(item: Item): JsonObject | undefined {
  return item.type === 'unknown' || item.type === 'hosted_call' ? undefined : ownRaw(item.source);
}

function encodeInput(item: MessageItem, context: EncodeContext): MutableJsonObject {
  const { systemRole } = context.target.quirks;
  const isSystem = item.role === 'system' || item.role === 'developer';
  const role = isSystem && systemRole !== 'keep' ? systemRole : item.role;
  const message: MutableJsonObject = { role };
  message['content'] = encodeContent(item.parts, '\n', context);
  encodeName(message, item.name, item.path ?? 'messages', context);
  copyMessageMembers(message, ownRaw(item.source), [item], context);
  return message;
}

/**
 * Encodes a tool result. A tool message only holds text (API reference, "Tool message"), so images and files are sent
 * in a user message after the last result.
 * @param attachments takes what this message cannot hold
 */
function encodeToolResult(
  item: ToolResultItem,
  attachments: Part[],
  context: EncodeContext,
): MutableJsonObject {
  const raw = ownRaw(item.source);
  const path = item.path ?? 'messages';
  const content: Part[] = [];
  let moved = 0;
  for (const part of item.parts) {
    if (part.type === 'text' || (part.type === 'unknown' && ownRaw(part.source))) content.push(part);
    else {
      attachments.push(part);
      moved++;
    }
  }
  if (moved > 0) {
    context.report.add(
      path,
      'approximated',
      'tool results support only text: images and files follow in a user message',
    );
    if (content.length === 0) content.push(ATTACHED);
  }
  if (item.isError)
    context.report.add(`${path}.is_error`, 'dropped', 'Chat Completions cannot mark a result as an error');
  const message: MutableJsonObject = {
    role: 'tool',
    tool_call_id: context.callId(item.callId),
  };
  message['content'] = encodeContent(content, '\n', context);
  // OpenAI's tool message has no name, so it is sent only if the client sent it.
  if (raw?.['name'] !== undefined) encodeName(message, item.name, path, context);
  copyMessageMembers(message, raw, [item], context);
  return message;
}

const ATTACHED: TextPart = {
  type: 'text',
  text: 'The result of this call is attached to the next user message.',
};

/** Merges system messages into one at the start. Instructions that stood later in the conversation move. */
function mergeSystemMessages(
  messages: readonly MutableJsonObject[],
  items: readonly Item[],
  context: EncodeContext,
): MutableJsonObject[] {
  const system = messages.filter(isSystemMessage);
  if (system.length === 0) return [...messages];
  const others = messages.filter((message) => !isSystemMessage(message));
  let seenOther = false;
  for (const item of items) {
    const isSystem = item.type === 'message' && (item.role === 'system' || item.role === 'developer');
    if (isSystem && seenOther)
      context.report.add(
        item.path ?? 'messages',
        'approximated',
        'moved to the start: the upstream accepts one system message',
      );
    seenOther ||= !isSystem;
  }
  const merged = mergeMessages(system);
  return [merged, ...others];
}

function isSystemMessage(message: MutableJsonObject): boolean {
  return message['role'] === 'system' || message['role'] === 'developer';
}

function mergeAdjacent(messages: readonly MutableJsonObject[]): MutableJsonObject[] {
  const runs: MutableJsonObject[][] = [];
  for (const message of messages) {
    const run = runs.at(-1);
    if (run && run[0]?.['role'] === message['role'] && message['role'] !== 'tool') run.push(message);
    else runs.push([message]);
  }
  return runs.map(mergeMessages);
}

/**
 * Merges messages of one role: contents are joined and lists concatenated. Merging all at once avoids the quadratic
 * cost of merging pairs.
 */
function mergeMessages(run: readonly MutableJsonObject[]): MutableJsonObject {
  const [first] = run;
  if (first && run.length === 1) return first;
  const merged: MutableJsonObject = {};
  for (const message of run) Object.assign(merged, message);
  merged['content'] = joinContents(run.map((message) => message['content'] ?? null));
  for (const key of ['tool_calls', 'reasoning_details']) {
    const lists = run.map((message) => message[key]).filter(isJsonArray);
    if (lists.length > 1) merged[key] = lists.flat();
  }
  for (const key of ['reasoning_content', 'reasoning', 'refusal']) {
    const texts = run.map((message) => message[key]).filter((text) => typeof text === 'string');
    if (texts.length > 1) merged[key] = texts.join('\n\n');
  }
  return merged;
}

function joinContents(contents: readonly JsonValue[]): JsonValue {
  const said = contents.filter((content) => content !== null && content !== '');
  if (said.length <= 1) return said[0] ?? contents.at(-1) ?? null;
  const parts = said.findIndex((content) => typeof content !== 'string');
  if (parts < 0) return said.join('\n\n');
  const texts = said.slice(0, parts).join('\n\n');
  const rest = said.slice(parts).flatMap(contentParts);
  return texts === '' ? rest : [{ type: 'text', text: texts }, ...rest];
}

function contentParts(content: JsonValue): readonly JsonValue[] {
  return isJsonArray(content) ? content : [{ type: 'text', text: content }];
}
