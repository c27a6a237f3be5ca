// Decodes `input` and `instructions` into items of the flat conversation. Unknown items are kept.
import { isJsonObject, unknownMembers } from '../../../base/json/index.ts';
import type { JsonObject } from '../../../base/json/index.ts';
import {
  type Item,
  type Part,
  type Problems,
  type Role,
  type ToolCallItem,
  TEXTS,
} from '../../../canonical/index.ts';
import {
  describe,
  readArray,
  readString,
  requireObject,
  requireString,
  requireStringOrEmpty,
} from '../../members/read-member.ts';
import { CallsById } from '../../calls/call-ids.ts';
import type { Member } from '../../members/read-member.ts';
import { ASSISTANT_PARTS, decodeContent, INPUT_PARTS, OUTPUT_PARTS } from './decode-parts.ts';
import { decodeOpaque, isDocumentedHosted, isOwnAnswer, kindOfItem, sourceOf } from '../decode-item.ts';
import { readFacts } from '../hosted-facts.ts';
import { MESSAGE_SHAPE } from '../member-shapes.ts';

const ROLES: ReadonlySet<string> = new Set(['user', 'assistant', 'system', 'developer'] satisfies Role[]);

/** State that is carried from one item to the next. */
interface Conversation {
  readonly problems: Problems;
  /** Calls so far. A result takes its tool's name from its call. */
  readonly calls: CallsById<ToolCallItem>;
  /** True for stored items: unknown calls are then rendered as text instead of refused. */
  readonly isKept: boolean;
}

/** Decodes `input`. Every problem has its path. Absent input is an empty list. */
export function decodeInput(value: Member, problems: Problems): Item[] {
  return decodeItems(value, 'input', 'user', problems, false);
}

/** Decodes `instructions`. A string is one system message. */
export function decodeInstructions(value: Member, problems: Problems): Item[] {
  return decodeItems(value, 'instructions', 'system', problems, false);
}

/** Decodes a list of stored items that stand at `path`. */
export function decodeInputItems(items: readonly JsonObject[], path: string, problems: Problems): Item[] {
  return decodeItems(items, path, 'user', problems, true);
}

function decodeItems(value: Member, path: string, role: Role, problems: Problems, isKept: boolean): Item[] {
  if (value === undefined || value === null) return [];
  if (typeof value === 'string')
    return [{ type: 'message', role, parts: [{ type: 'text', text: value, path }], path }];
  if (!Array.isArray(value)) {
    problems.add(path, `must be a string or an array of items, not ${describe(value)}`);
    return [];
  }
  const conversation: Conversation = { problems, calls: new CallsById(), isKept };
  const items: Item[] = [];
  readArray(value, path, problems)?.forEach((raw, index) => {
    const at = `${path}[${index}]`;
    const item = isJsonObject(raw) ? decodeInputItem(raw, at, conversation) : undefined;
    if (item) items.push(item);
    else if (!isJsonObject(raw)) problems.add(at, TEXTS.mustBeObject(describe(raw)));
    if (item?.type === 'tool_call') conversation.calls.call(item.callId, item);
  });
  return items;
}

function decodeInputItem(raw: JsonObject, path: string, conversation: Conversation): Item | undefined {
  const { problems } = conversation;
  const type = typeOf(raw, path, problems);
  const id = readString(raw['id'], `${path}.id`, problems) || undefined;
  const source = sourceOf(raw);
  switch (type) {
    case undefined:
      return undefined;
    case 'message':
      return decodeMessage(raw, id, path, problems);
    case 'reasoning':
      readString(raw['encrypted_content'], `${path}.encrypted_content`, problems);
      return {
        type: 'reasoning',
        id,
        text: decodeTexts(raw['content'], `${path}.content`, problems),
        summary: decodeTexts(raw['summary'], `${path}.summary`, problems),
        // The family of the reasoning is unknown if there is no encrypted content.
        opaque: decodeOpaque(raw),
        path,
        source,
      };
    case 'function_call':
    case 'custom_tool_call':
      return decodeCall(raw, type, id, path, problems);
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const callId = requireString(raw['call_id'], `${path}.call_id`, problems);
      const parts = decodeContent(raw['output'], `${path}.output`, OUTPUT_PARTS, problems);
      if (callId === undefined) return undefined;
      const kind = type === 'function_call_output' ? 'function' : 'custom';
      const name = conversation.calls.result(callId)?.name;
      return { type: 'tool_result', kind, callId, name, parts, path, source };
    }
    case 'item_reference':
      return decodeReference(raw, path, problems);
    case 'compaction': {
      const encrypted = requireString(raw['encrypted_content'], `${path}.encrypted_content`, problems);
      return encrypted === undefined ? undefined : { type: 'compaction', id, encrypted, path, source };
    }
    default:
      checkMembers(raw, type, path, problems);
      return (conversation.isKept ? kindOfItem(type) === 'hosted_call' : isKnown(type))
        ? { type: 'hosted_call', kind: type, id, facts: readFacts(raw), path, source }
        : { type: 'unknown', path, source };
  }
}

/** Returns an item's type. Messages may omit it, and so may references, which consist of only an id. */
function typeOf(raw: JsonObject, path: string, problems: Problems): string | undefined {
  if (raw['type'] !== undefined && raw['type'] !== null)
    return requireString(raw['type'], `${path}.type`, problems);
  if (raw['role'] !== undefined) return 'message';
  if (typeof raw['id'] === 'string' && Object.keys(raw).length === 1) return 'item_reference';
  problems.add(`${path}.type`, 'is required');
  return undefined;
}

function decodeMessage(
  raw: JsonObject,
  id: string | undefined,
  path: string,
  problems: Problems,
): Item | undefined {
  const role = requireString(raw['role'], `${path}.role`, problems);
  if (role === undefined) return undefined;
  if (!isRole(role)) {
    problems.add(`${path}.role`, TEXTS.mustBeOneOf([...ROLES].join(', ')));
    return undefined;
  }
  const allowed = role === 'assistant' ? ASSISTANT_PARTS : INPUT_PARTS;
  const parts: readonly Part[] = decodeContent(raw['content'], `${path}.content`, allowed, problems);
  const says = isOwnAnswer(raw) || unknownMembers(raw, MESSAGE_SHAPE.known);
  const source = says ? { source: sourceOf(raw) } : {};
  return { type: 'message', role, id, parts, path, ...source };
}

function isRole(role: string): role is Role {
  return ROLES.has(role);
}

function decodeCall(
  raw: JsonObject,
  type: 'function_call' | 'custom_tool_call',
  id: string | undefined,
  path: string,
  problems: Problems,
): ToolCallItem | undefined {
  const isCustom = type === 'custom_tool_call';
  const text = isCustom ? 'input' : 'arguments';
  const callId = requireString(raw['call_id'], `${path}.call_id`, problems);
  const name = requireString(raw['name'], `${path}.name`, problems);
  const namespace = readString(raw['namespace'], `${path}.namespace`, problems) || undefined;
  // Kept unchanged even if it is not JSON: the model wrote it, and a history must not fail because of it.
  const written = requireStringOrEmpty(raw[text], `${path}.${text}`, problems);
  if (callId === undefined || name === undefined || written === undefined) return undefined;
  const kind = isCustom ? 'custom' : 'function';
  return {
    type: 'tool_call',
    kind,
    callId,
    id,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    arguments: written,
    path,
    source: sourceOf(raw),
  };
}

function decodeReference(raw: JsonObject, path: string, problems: Problems): Item | undefined {
  const id = requireString(raw['id'], `${path}.id`, problems);
  return id === undefined ? undefined : { type: 'reference', id, path, source: sourceOf(raw) };
}

/** Reads the texts of `summary` or `content` of reasoning; empty if null or absent. */
function decodeTexts(value: Member, path: string, problems: Problems): string[] {
  const texts: string[] = [];
  readArray(value, path, problems)?.forEach((part, index) => {
    const object = requireObject(part, `${path}[${index}]`, problems);
    const text = object && requireStringOrEmpty(object['text'], `${path}[${index}].text`, problems);
    if (text !== undefined) texts.push(text);
  });
  return texts;
}

/**
 * Required members of calls and outputs, by item type. Clients omit many that the reference calls required (Codex sends
 * calls without ids), so only these are checked.
 */
const NEEDED: Readonly<Record<string, Readonly<Record<string, 'string' | 'object' | 'array'>>>> = {
  web_search_call: { action: 'object' },
  computer_call: { call_id: 'string' },
  computer_call_output: { call_id: 'string', output: 'object' },
  local_shell_call: { action: 'object' },
  local_shell_call_output: { output: 'string' },
  shell_call: { call_id: 'string', action: 'object' },
  shell_call_output: { call_id: 'string', output: 'array' },
  apply_patch_call: { call_id: 'string', operation: 'object' },
  apply_patch_call_output: { call_id: 'string', status: 'string' },
  mcp_list_tools: { server_label: 'string', tools: 'array' },
  mcp_approval_request: { server_label: 'string', name: 'string', arguments: 'string' },
  mcp_approval_response: { approval_request_id: 'string' },
  mcp_call: { server_label: 'string', name: 'string', arguments: 'string' },
};

function isKnown(type: string): boolean {
  return Object.hasOwn(NEEDED, type) || isDocumentedHosted(type);
}

function checkMembers(raw: JsonObject, type: string, path: string, problems: Problems): void {
  const needed = Object.hasOwn(NEEDED, type) ? NEEDED[type] : undefined;
  for (const name in needed) {
    const at = `${path}.${name}`;
    if (needed[name] === 'object') requireObject(raw[name], at, problems);
    else if (needed[name] === 'string') requireStringOrEmpty(raw[name], at, problems);
    else if (raw[name] === undefined || raw[name] === null) problems.add(at, 'is required');
    else readArray(raw[name], at, problems);
  }
  if (type === 'mcp_approval_response' && typeof raw['approve'] !== 'boolean')
    problems.add(`${path}.approve`, TEXTS.mustBeBoolean);
}
