// Record of an assistant turn: its full reasoning, and enough of everything else to recognise the turn and its order.
// Pure data.
import { hash, randomUUID } from 'node:crypto';
import type { JsonValue } from '../../base/json/index.ts';
import type { Item, MessageItem, ReasoningItem, ToolCallItem } from '../../canonical/index.ts';
import { isJsonArray, isJsonObject, parseJson } from '../../base/json/index.ts';

export type TurnEntry =
  | { readonly type: 'reasoning'; readonly item: ReasoningItem }
  /** Text of one message: its length in UTF-16 code units and its SHA-256. */
  | { readonly type: 'text'; readonly length: number; readonly hash: string }
  | { readonly type: 'call'; readonly key: string };

export interface TurnRecord {
  /** Identical in every copy of the turn. */
  readonly id: string;
  readonly entries: readonly TurnEntry[];
}

/** Records a turn. Hosted calls and unknown items are omitted, because clients that can return them keep them. */
export function recordTurn(
  items: readonly Item[],
  keyOf: (item: ToolCallItem) => string = callKey,
): TurnRecord {
  const entries: TurnEntry[] = [];
  for (const item of items) {
    if (item.type === 'reasoning') {
      // Positions in the body do not apply to the next request.
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
 * Records reasoning without text at the end of a turn without calls, and the text before it, by which the turn is
 * recognised. Null: there is none, or a call already identifies the turn.
 */
export function recordEnd(
  items: readonly Item[],
): { readonly turn: TurnRecord; readonly key: string } | null {
  let end = items.length;
  while (end > 0 && isSilent(items[end - 1])) end--;
  const said = items.slice(0, end);
  if (end === items.length || items.some(({ type }) => type === 'tool_call')) return null;
  const text = answerText(said);
  if (text === '') return null;
  const { entries } = recordTurn([...said.filter(({ type }) => type === 'message'), ...items.slice(end)]);
  return { turn: { id: randomUUID(), entries }, key: endKey(text) };
}

function isSilent(item: Item | undefined): boolean {
  if (item?.type !== 'reasoning' || item.opaque === undefined) return false;
  return [...item.text, ...item.summary].every((text) => text === '');
}

/** All text of a turn, concatenated. */
export function answerText(items: readonly Item[]): string {
  return items.map((item) => (item.type === 'message' ? (messageText(item) ?? '') : '')).join('');
}

/** Key of a turn without calls, from its text. */
export function endKey(text: string): string {
  return textHash(JSON.stringify(['end', text]));
}

/**
 * Key of a call, from its id and content. The id alone is not unique: some servers number calls from zero in every
 * answer, and reasoning must not be attached to another conversation's call. Arguments are compared as JSON values,
 * because clients rewrite them.
 */
export function callKey(call: ToolCallItem): string {
  return textHash(JSON.stringify([call.callId, call.kind, call.name, contentOf(call)]));
}

/**
 * Keys of calls by their position in a conversation, for clients that do not return ids. Items must be passed in order.
 */
export class CallPlaces {
  #calls = 0;
  #asked = '';

  /** Key of a call: its content, the number of earlier calls, and the last user message. */
  key(call: ToolCallItem): string {
    return textHash(
      JSON.stringify(['place', this.#calls, this.#asked, call.kind, call.name, contentOf(call)]),
    );
  }

  /** Advances over an item. */
  pass(item: Item): void {
    if (item.type === 'tool_call') this.#calls += 1;
    else if (item.type === 'message' && item.role === 'user') this.#asked = messageText(item) ?? '';
  }
}

function contentOf(call: ToolCallItem): string {
  const parsed = call.kind === 'function' ? parseJson(call.arguments) : undefined;
  return parsed === undefined ? call.arguments : JSON.stringify(sorted(parsed));
}

/** Text of a message including refusals. Undefined: it contains anything else. */
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
  return hash('sha256', text, 'base64url');
}

/** The same value with sorted object members. */
function sorted(value: JsonValue): JsonValue {
  if (isJsonArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name] ?? null)]));
}
