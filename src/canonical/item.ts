// A conversation is a flat list of items, as in the Responses API: flat items group into messages easily,
// grouped ones lose the order of thinking, text and calls.
import { GatewayError } from './error.ts';
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
 * Reasoning state that only one family of models can read. It goes back byte for byte to an endpoint whose
 * `reasoningFormat` equals `format`, and nowhere else.
 */
export interface OpaqueReasoning {
  /** `anthropic-claude-v1`, `openai-responses-v1`, `google-gemini-v1`, … */
  readonly format: string;
  /** `signature` vouches for visible text; `encrypted` stands for hidden text. */
  readonly kind: 'signature' | 'encrypted';
  readonly data: string;
  /** `call`: it stood on a call, and vouches for that one alone. Absent: nobody knows what it stood on. */
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
   * Owner's format of this reasoning, also where nothing is signed (DeepSeek's `reasoning_content`). Undefined:
   * unknown.
   */
  readonly format?: string | undefined;
}

export interface ToolCallItem extends NodeBase {
  readonly type: 'tool_call';
  readonly kind: 'function' | 'custom';
  /** Correlates with the result; travels unchanged whatever its shape. */
  readonly callId: string;
  /** True: the client gave none; it was made here, from the place in the conversation. */
  readonly isIdMade?: true | undefined;
  /** The item's own id where the protocol has one (`fc_…`). */
  readonly id?: string | undefined;
  readonly name: string;
  /** The group of tools that the tool belongs to, where the protocol has groups (Responses, `namespace`). */
  readonly namespace?: string | undefined;
  /** JSON text as the model wrote it, perhaps malformed; for a custom tool its free-form input. */
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
 * Work of a tool that the client does not run itself (web search, code execution, MCP), call or result: in the raw form of
 * the upstream that ran it, or in facts alone where the gateway did.
 */
export interface HostedCallItem extends NodeBase {
  readonly type: 'hosted_call';
  /** The raw type: `web_search_call`, `server_tool_use`, `web_search_tool_result`, …; without a raw form that of the facts. */
  readonly kind: string;
  readonly id?: string | undefined;
  /** Facts of a hosted call; of an open item those known so far. Absent: only its own protocol can say them. */
  readonly facts?: HostedFacts | undefined;
}

export interface CompactionItem extends NodeBase {
  readonly type: 'compaction';
  readonly id?: string | undefined;
  readonly encrypted: string;
}

/** A stored item, by its id. The gateway puts the item itself in its place before any encoder sees the request. */
export interface ReferenceItem extends NodeBase {
  readonly type: 'reference';
  readonly id: string;
}

/** An item that only its own protocol knows. */
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
 * True for messages of texts without marks alone, as most conversations are: nothing in them points elsewhere, or has to
 * be read, checked or said otherwise for anybody. Found out once for a list, which must not change afterwards.
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

/** True for what an assistant turn consists of; a user, tool or system item ends the turn. */
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

/** The error for an encoder that meets a reference: nothing was stored under its id, or nobody looked. */
export function unresolvedReference(item: ReferenceItem): GatewayError {
  return new GatewayError('not_found', `Item with id '${item.id}' not found.`, { param: item.path });
}

/** Results with the name and the kind of their calls, which may stand where the result's own decoder did not see them. */
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
