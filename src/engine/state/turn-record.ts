// Record of an assistant turn: its reasoning in full, and of everything else just enough to recognise it and
// its order. Pure data; encryption and storage are elsewhere.
import { hash, randomUUID } from 'node:crypto';
import type { JsonValue } from '../../base/json/index.ts';
import type { Item, MessageItem, ReasoningItem, ToolCallItem } from '../../canonical/index.ts';
import { isJsonArray, isJsonObject, parseJson } from '../../base/json/index.ts';

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
      // A position in some body means nothing in the next one.
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
 * Records the reasoning without words at the end of a turn that called nothing, and the words before it, by which the
 * turn is recognised. Null where there is none, or where a call names the turn already.
 */
export function recordEnd(
  items: readonly Item[],
): { readonly turn: TurnRecord; readonly key: string } | null {
  let end = items.length;
  while (end > 0 && isUnspoken(items[end - 1])) end--;
  const said = items.slice(0, end);
  if (end === items.length || items.some(({ type }) => type === 'tool_call')) return null;
  const text = answerText(said);
  if (text === '') return null;
  const { entries } = recordTurn([...said.filter(({ type }) => type === 'message'), ...items.slice(end)]);
  return { turn: { id: randomUUID(), entries }, key: endKey(text) };
}

function isUnspoken(item: Item | undefined): boolean {
  if (item?.type !== 'reasoning' || item.opaque === undefined) return false;
  return [...item.text, ...item.summary].every((text) => text === '');
}

/** The words of a turn, as one text. */
export function answerText(items: readonly Item[]): string {
  return items.map((item) => (item.type === 'message' ? (messageText(item) ?? '') : '')).join('');
}

/** Names a turn without calls by its words. */
export function endKey(text: string): string {
  return textHash(JSON.stringify(['end', text]));
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
  return parsed === undefined ? call.arguments : JSON.stringify(sorted(parsed));
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
  return hash('sha256', text, 'base64url');
}

/** The same value with the members of its objects in one order, whatever order they were written in. */
function sorted(value: JsonValue): JsonValue {
  if (isJsonArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name] ?? null)]));
}
