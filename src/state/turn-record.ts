// What is kept of an assistant turn: its reasoning in full, and of everything else just enough to recognise it and
// its order. Pure data; encryption and storage are elsewhere.
import { createHash, randomUUID } from 'node:crypto';
import type { Item, JsonValue, MessageItem, ReasoningItem, ToolCallItem } from '../canonical/index.ts';
import { isJsonArray, isJsonObject, parseJson } from '../canonical/index.ts';

export type TurnEntry =
  | { readonly type: 'reasoning'; readonly item: ReasoningItem }
  /** Text of one message: its length in UTF-16 units and its SHA-256. */
  | { readonly type: 'text'; readonly length: number; readonly hash: string }
  | { readonly type: 'call'; readonly key: string };

export interface TurnRecord {
  /** The same in every copy of the turn. */
  readonly id: string;
  readonly entries: readonly TurnEntry[];
}

/** Records a turn. Hosted calls and unknown items are not recorded: a client that can send them back keeps them itself. */
export function recordTurn(
  items: readonly Item[],
  keyOf: (item: ToolCallItem) => string = callKey,
): TurnRecord {
  const entries: TurnEntry[] = [];
  for (const item of items) {
    if (item.type === 'reasoning') {
      // Where it stood in some body means nothing in the next one.
      const { path: _path, cache: _cache, ...kept } = item;
      entries.push({ type: 'reasoning', item: kept });
    } else if (item.type === 'tool_call') {
      entries.push({ type: 'call', key: keyOf(item) });
    } else if (item.type === 'message') {
      const text = messageText(item);
      if (text) entries.push({ type: 'text', length: text.length, hash: textHash(text) });
    }
  }
  return { id: randomUUID(), entries };
}

/**
 * Names a call by its id and its content. The id alone is not enough: some servers count their calls from zero in
 * every answer, and reasoning must not be attached to another conversation's call. Arguments are compared as JSON
 * values, because clients parse and rewrite them.
 */
export function callKey(call: ToolCallItem): string {
  return textHash(JSON.stringify([call.callId, call.kind, call.name, contentOf(call)]));
}

/** Names calls by their place in a conversation, for clients that give no ids back. Takes its items in order. */
export class CallPlaces {
  #calls = 0;
  #asked = '';

  /** The name of a call: its content, how many calls came before it, and what the person said last. */
  key(call: ToolCallItem): string {
    return textHash(
      JSON.stringify(['place', this.#calls, this.#asked, call.kind, call.name, contentOf(call)]),
    );
  }

  /** Passes an item. */
  pass(item: Item): void {
    if (item.type === 'tool_call') this.#calls += 1;
    else if (item.type === 'message' && item.role === 'user') this.#asked = messageText(item) ?? '';
  }
}

function contentOf(call: ToolCallItem): string {
  const parsed = call.kind === 'function' ? parseJson(call.arguments) : undefined;
  return parsed === undefined ? call.arguments : stableJson(parsed);
}

/** The text of a message, refusals included; undefined when it holds anything else. */
export function messageText(message: MessageItem): string | undefined {
  let text = '';
  for (const part of message.parts) {
    if (part.type === 'text') text += part.text;
    else if (part.type === 'refusal') text += part.refusal;
    else return undefined;
  }
  return text;
}

/** SHA-256 of a text, base64url. */
export function textHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** JSON with sorted keys and no white space. */
function stableJson(value: JsonValue): string {
  if (isJsonArray(value)) return `[${value.map(stableJson).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = Object.keys(value).sort();
  return `{${members.map((key) => `${JSON.stringify(key)}:${stableJson(value[key] ?? null)}`).join(',')}}`;
}
