// Decodes `system` and `messages` into items of the flat conversation, in order. `decode-parts.ts` reads the content of
// blocks.
import type { JsonObject } from '../../../base/json/index.ts';
import type { Item, MessageItem, Part, ReasoningItem, Role, ToolCallItem } from '../../../canonical/index.ts';
import { isJsonObject } from '../../../base/json/index.ts';
import { isEmptyText, TEXTS } from '../../../canonical/index.ts';
import {
  describe,
  readArray,
  readBoolean,
  requireObject,
  requireString,
  requireStringOrEmpty,
} from '../../members/read-member.ts';
import type { Member } from '../../members/read-member.ts';
import { isHosted } from '../block-kinds.ts';
import { decodeCache, decodeContent, decodePart, readBlock } from './decode-parts.ts';
import { messagesSource } from './decode-scope.ts';
import type { DecodeScope } from './decode-scope.ts';
import { CLAUDE_REASONING, decodeHidden } from '../foreign-reasoning.ts';
import { decodeForeign } from '../hosted-blocks.ts';

const ROLES = 'user, assistant, system';

/** Decodes `system`, a string or text blocks; undefined if it is empty. */
export function decodeSystem(value: Member, scope: DecodeScope): MessageItem | undefined {
  const parts = decodeContent(value, 'system', scope);
  if (!parts || parts.every(isEmptyText)) return undefined;
  return { type: 'message', role: 'system', parts, path: 'system' };
}

/** Decodes `messages` into items. Every problem has its path. */
export function decodeMessages(value: Member, scope: DecodeScope): Item[] {
  const { problems } = scope;
  if (value === undefined || value === null) problems.add('messages', 'is required');
  const messages = readArray(value, 'messages', problems);
  if (messages?.length === 0) problems.add('messages', 'must not be empty');
  const items: Item[] = [];
  /** Names of the calls so far, by id, because other protocols require the name in the result. */
  const names = new Map<string, string>();
  messages?.forEach((message, index) => {
    const path = `messages[${index}]`;
    if (!isJsonObject(message)) {
      problems.add(path, TEXTS.mustBeObject(describe(message)));
      return;
    }
    const role = requireString(message['role'], `${path}.role`, problems);
    if (role === undefined) return;
    if (role !== 'user' && role !== 'assistant' && role !== 'system') {
      problems.add(`${path}.role`, TEXTS.mustBeOneOf(ROLES));
      return;
    }
    decodeMessage(message, role, path, names, items, scope);
  });
  return items;
}

function decodeMessage(
  message: JsonObject,
  role: Role,
  path: string,
  names: Map<string, string>,
  items: Item[],
  scope: DecodeScope,
): void {
  const at = `${path}.content`;
  // System messages inside the conversation keep their position if the upstream's protocol allows it.
  const place = role === 'system' ? { source: messagesSource(message) } : {};
  const { content } = message;
  if (content === undefined || content === null) {
    scope.problems.add(at, 'is required');
    return;
  }
  if (typeof content === 'string') {
    // An empty user message makes it the assistant's turn. Other empty messages have no meaning.
    if (content !== '' || role === 'user')
      items.push({
        type: 'message',
        role,
        parts: [{ type: 'text', text: content, path: at }],
        path,
        ...place,
      });
    return;
  }
  const blocks = readArray(content, at, scope.problems);
  if (blocks?.length === 0 && role === 'user') scope.problems.add(at, 'must not be empty');
  let parts: Part[] = [];
  const endMessage = (): void => {
    if (parts.length > 0) items.push({ type: 'message', role, parts, path, ...place });
    parts = [];
  };
  blocks?.forEach((element, index) => {
    const blockPath = `${at}[${index}]`;
    const raw = readBlock(element, blockPath, scope);
    if (!raw) return;
    const item = decodeItem(raw, role, blockPath, names, scope);
    if (item === 'a part') {
      const part = decodePart(raw, blockPath, scope);
      if (part) parts.push(part);
    } else if (item) {
      endMessage();
      items.push(item);
    }
  });
  endMessage();
}

/** Returns the item for a block that is one; undefined for an invalid block, which is a problem. */
function decodeItem(
  raw: JsonObject,
  role: Role,
  path: string,
  names: Map<string, string>,
  scope: DecodeScope,
): Item | 'a part' | undefined {
  const type = raw['type'];
  if (role === 'user')
    return type === 'tool_result'
      ? decodeResult(raw, path, names, scope)
      : misplaced(type, role, path, scope);
  if (role !== 'assistant') return misplaced(type, role, path, scope);
  switch (type) {
    case 'thinking':
      return decodeThinkingBlock(raw, path, scope);
    case 'redacted_thinking':
      return decodeRedacted(raw, path, scope);
    case 'tool_use':
      return decodeCall(raw, path, names, scope);
    default:
      if (typeof type !== 'string' || !isHosted(type)) return misplaced(type, role, path, scope);
      return (
        decodeForeign(raw, path) ?? {
          type: 'hosted_call',
          kind: type,
          id: typeof raw['id'] === 'string' ? raw['id'] : undefined,
          path,
          cache: decodeCache(raw, path, scope),
          source: messagesSource(raw),
        }
      );
  }
}

/** Blocks that only one role may send. */
const ONLY: Readonly<Record<string, Role>> = {
  tool_result: 'user',
  tool_use: 'assistant',
  thinking: 'assistant',
  redacted_thinking: 'assistant',
};

function misplaced(type: Member, role: Role, path: string, scope: DecodeScope): 'a part' | undefined {
  const owner = typeof type === 'string' && Object.hasOwn(ONLY, type) ? ONLY[type] : undefined;
  if (owner === undefined || owner === role) return 'a part';
  scope.problems.add(
    `${path}.type`,
    `${String(type)} blocks are allowed only in messages of the role ${owner}, not ${role}`,
  );
  return undefined;
}

function decodeThinkingBlock(raw: JsonObject, path: string, scope: DecodeScope): ReasoningItem | undefined {
  const { problems } = scope;
  const thinking = requireStringOrEmpty(raw['thinking'], `${path}.thinking`, problems);
  const signature = requireStringOrEmpty(raw['signature'] ?? '', `${path}.signature`, problems);
  if (thinking === undefined || signature === undefined) return undefined;
  const foreign = decodeHidden(signature, thinking);
  if (foreign) return { ...foreign, path };
  return {
    type: 'reasoning',
    text: thinking === '' ? [] : [thinking],
    summary: [],
    // Unsigned thinking can come from any model.
    format: signature === '' ? undefined : CLAUDE_REASONING,
    opaque: signature === '' ? undefined : { format: CLAUDE_REASONING, kind: 'signature', data: signature },
    path,
    source: messagesSource(raw),
  };
}

function decodeRedacted(raw: JsonObject, path: string, scope: DecodeScope): ReasoningItem | undefined {
  const data = requireString(raw['data'], `${path}.data`, scope.problems);
  if (data === undefined) return undefined;
  const foreign = decodeHidden(data, '');
  if (foreign) return { ...foreign, path };
  return {
    type: 'reasoning',
    text: [],
    summary: [],
    format: CLAUDE_REASONING,
    opaque: { format: CLAUDE_REASONING, kind: 'encrypted', data },
    path,
    source: messagesSource(raw),
  };
}

function decodeCall(
  raw: JsonObject,
  path: string,
  names: Map<string, string>,
  scope: DecodeScope,
): ToolCallItem | undefined {
  const { problems } = scope;
  const callId = requireString(raw['id'], `${path}.id`, problems);
  const name = requireString(raw['name'], `${path}.name`, problems);
  const input = requireObject(raw['input'], `${path}.input`, problems);
  if (callId === undefined || name === undefined || !input) return undefined;
  names.set(callId, name);
  return {
    type: 'tool_call',
    kind: 'function',
    callId,
    name,
    arguments: JSON.stringify(input),
    path,
    cache: decodeCache(raw, path, scope),
    source: messagesSource(raw),
  };
}

function decodeResult(
  raw: JsonObject,
  path: string,
  names: ReadonlyMap<string, string>,
  scope: DecodeScope,
): Item | undefined {
  const { problems } = scope;
  const callId = requireString(raw['tool_use_id'], `${path}.tool_use_id`, problems);
  const parts = decodeContent(raw['content'], `${path}.content`, scope) ?? [];
  const isError = readBoolean(raw['is_error'], `${path}.is_error`, problems);
  if (callId === undefined) return undefined;
  return {
    type: 'tool_result',
    kind: 'function',
    callId,
    name: names.get(callId),
    parts,
    isError,
    path,
    cache: decodeCache(raw, path, scope),
    source: messagesSource(raw),
  };
}
