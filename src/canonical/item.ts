// A conversation is a flat list of items, as in the Responses API. Flat items are easily grouped into messages, whereas
// messages lose the order of reasoning, text and calls.
import { type GatewayError, notFound } from './error.ts';
import type { HostedFacts } from './hosted-facts.ts';
import type { NodeBase, Part, Source } from './part.ts';

export type Role = 'system' | 'developer' | 'user' | 'assistant';

export interface MessageItem extends NodeBase {
  readonly type: 'message';
  readonly role: Role;
  readonly parts: readonly Part[];
  readonly name?: string | undefined;
  /** The item's own id where the protocol has one (`msg_…`). */
  readonly id?: string | undefined;
}

/**
 * Reasoning state that only one family of models can read. It is sent back unchanged, and only to endpoints whose
 * `reasoningFormat` equals `format`.
 */
export interface OpaqueReasoning {
  /** `anthropic-claude-v1`, `openai-responses-v1`, `google-gemini-v1`, … */
  readonly format: string;
  /** `signature` signs visible text; `encrypted` contains hidden text. */
  readonly kind: 'signature' | 'encrypted';
  readonly data: string;
  /** `call`: it was attached to a tool call and is valid only for that call. Absent: unknown. */
  readonly standsOn?: 'call' | undefined;
}

export interface ReasoningItem extends NodeBase {
  readonly type: 'reasoning';
  /** The item's own id where the protocol has one (`rs_…`). */
  readonly id?: string | undefined;
  /** Parts of the raw chain of thought; usually one. */
  readonly text: readonly string[];
  /** Parts of its summary. */
  readonly summary: readonly string[];
  readonly opaque?: OpaqueReasoning | undefined;
  /**
   * Format of the family that produced this reasoning, also for unsigned text (DeepSeek's `reasoning_content`).
   * Undefined: unknown.
   */
  readonly format?: string | undefined;
}

export interface ToolCallItem extends NodeBase {
  readonly type: 'tool_call';
  readonly kind: 'function' | 'custom';
  /** Correlates the call with its result. Passed on unchanged in any format. */
  readonly callId: string;
  /** True: the client sent no id; the gateway derived it from the position in the conversation. */
  readonly isIdMade?: true | undefined;
  /** The item's own id where the protocol has one (`fc_…`). */
  readonly id?: string | undefined;
  readonly name: string;
  /** Group of the tool, in protocols that have groups (Responses, `namespace`). */
  readonly namespace?: string | undefined;
  /** JSON text as the model wrote it, possibly malformed; for a custom tool its free-form input. */
  readonly arguments: string;
}

export interface ToolResultItem extends NodeBase {
  readonly type: 'tool_result';
  readonly kind: 'function' | 'custom';
  readonly callId: string;
  readonly name?: string | undefined;
  readonly parts: readonly Part[];
  readonly isError?: boolean | undefined;
}

/**
 * Call or result of a tool that the client does not run itself (web search, code execution, MCP). It has the raw form of
 * the upstream that ran it, or only `facts` if the gateway did.
 */
export interface HostedCallItem extends NodeBase {
  readonly type: 'hosted_call';
  /** The raw type (`web_search_call`, `server_tool_use`, …), or that of `facts` if there is no raw form. */
  readonly kind: string;
  readonly id?: string | undefined;
  /** Facts about the call, so far as known for an open item. Absent: only its own protocol can express it. */
  readonly facts?: HostedFacts | undefined;
}

export interface CompactionItem extends NodeBase {
  readonly type: 'compaction';
  readonly id?: string | undefined;
  readonly encrypted: string;
}

/** A reference to a stored item. The gateway replaces it by the item before encoders see the request. */
export interface ReferenceItem extends NodeBase {
  readonly type: 'reference';
  readonly id: string;
}

/** An item that exists only in its own protocol. */
export interface UnknownItem extends NodeBase {
  readonly type: 'unknown';
  readonly source: Source;
}

export type Item =
  | MessageItem
  | ReasoningItem
  | ToolCallItem
  | ToolResultItem
  | HostedCallItem
  | CompactionItem
  | ReferenceItem
  | UnknownItem;

const TEXTS = new WeakMap<readonly Item[], boolean>();

/**
 * True if all items are messages with plain text parts and without cache marks, as in most conversations. Such items need
 * no lookups, checks or conversion. The result is cached per list, which must not change afterwards.
 */
export function areTexts(items: readonly Item[]): boolean {
  let known = TEXTS.get(items);
  if (known === undefined) TEXTS.set(items, (known = items.every(isText)));
  return known;
}

function isText(item: Item): boolean {
  if (item.type !== 'message' || item.cache !== undefined) return false;
  for (const { type, cache } of item.parts) if (type !== 'text' || cache !== undefined) return false;
  return true;
}

/** True for items of an assistant turn. A user, tool or system item ends the turn. */
export function isAssistantItem(item: Item): boolean {
  switch (item.type) {
    case 'message':
      return item.role === 'assistant';
    case 'tool_result':
    case 'reference':
      return false;
    default:
      return true;
  }
}

/** Error for a reference that was not replaced by a stored item. */
export function unresolvedReference(item: ReferenceItem): GatewayError {
  return notFound('Item', item.id, item.path);
}

/** Adds the name and kind of their calls to tool results. The decoder may not have seen the calls, e.g. of stored turns. */
export function nameResults(items: readonly Item[]): readonly Item[] {
  const calls = new Map<string, ToolCallItem>();
  return items.map((item) => {
    if (item.type === 'tool_call') calls.set(item.callId, item);
    if (item.type !== 'tool_result') return item;
    const call = calls.get(item.callId);
    if (!call || (item.name !== undefined && item.kind === call.kind)) return item;
    return { ...item, name: item.name ?? call.name, kind: call.kind };
  });
}
