// Restores a recorded turn's reasoning among the items that a client sent. Pure functions. All items of the client are
// kept, in its order unless the record has a better one.
import { OWN_PATH } from '../../canonical/index.ts';
import type { Item, MessageItem, Part, ReasoningItem } from '../../canonical/index.ts';
import { messageText, textHash, type TurnEntry, type TurnRecord } from './turn-record.ts';

export interface Rebuilt {
  readonly items: readonly Item[];
  /** Number of reasoning items taken from the record. */
  readonly restored: number;
}

/** Positions of the client's items, by index into the record's entries. */
interface Layout {
  /** The client's own items, by entry. */
  readonly placed: Map<number, Item[]>;
  /** Items that are not in the record, by the preceding entry; -1 is the beginning. */
  readonly foreign: Map<number, Item[]>;
  /**
   * Messages before the calls whose text the record does not recognise, because they were edited or split differently.
   */
  readonly loose: Item[];
}

/**
 * @param items consecutive assistant items with calls of this turn and of no other recorded turn
 * @param keys keys of those calls (`callKey`)
 * @param given indices of reasoning entries already restored in an earlier stretch; extended here. Results placed
 * between parallel calls split one turn into two stretches
 */
export function rebuildTurn(
  items: readonly Item[],
  keys: ReadonlyMap<Item, string>,
  turn: TurnRecord,
  given: Set<number>,
): Rebuilt {
  const { entries } = turn;
  if (mayBeOtherTurn(items, entries)) return { items, restored: 0 };
  const layout = layOut(items, keys, entries);
  const calls = entries.flatMap((entry, index) => (entry.type === 'call' ? [index] : []));
  const present = calls.filter((index) => layout.placed.has(index));
  const lastPresent = present.at(-1) ?? -1;
  // A turn without calls was recognised by its whole text.
  const complete = calls.length === 0 || lastPresent === calls.at(-1);

  const out: Item[] = [...(layout.foreign.get(-1) ?? [])];
  let restored = 0;
  const firstReasoning = entries.findIndex(
    (entry, index) => entry.type === 'reasoning' && (layout.placed.has(index) || wanted(index)),
  );
  if (firstReasoning < 0) out.push(...layout.loose);
  entries.forEach((entry, index) => {
    const own = layout.placed.get(index);
    if (own) {
      out.push(...own);
      if (entry.type === 'reasoning') given.add(index);
    } else if (entry.type === 'reasoning' && wanted(index)) {
      // Restored items were not sent by the client, so their loss is not reported.
      out.push({ ...entry.item, path: OWN_PATH });
      given.add(index);
      restored += 1;
    }
    if (index === firstReasoning) out.push(...layout.loose);
    out.push(...(layout.foreign.get(index) ?? []));
  });
  return { items: out, restored };

  /** Reasoning belongs before the calls that follow it. Reasoning after the last call requires that call. */
  function wanted(index: number): boolean {
    return !given.has(index) && (index < lastPresent || complete);
  }
}

/**
 * A turn recognised only by its position may be a different turn with the same beginning and call. A client that
 * returns signatures missing in the record has lost none.
 */
function mayBeOtherTurn(items: readonly Item[], entries: readonly TurnEntry[]): boolean {
  if (!items.some((item) => item.type === 'tool_call' && item.isIdMade)) return false;
  return items.some(
    (item) =>
      item.type === 'reasoning' &&
      item.opaque !== undefined &&
      !entries.some((entry) => entry.type === 'reasoning' && isSame(item, entry.item)),
  );
}

function layOut(
  items: readonly Item[],
  keys: ReadonlyMap<Item, string>,
  entries: readonly TurnEntry[],
): Layout {
  const layout: Layout = { placed: new Map(), foreign: new Map(), loose: [] };
  const recorded = entries.flatMap((entry) => (entry.type === 'reasoning' ? [entry.item] : []));
  let after = -1;
  let nextText = 0;
  let callSeen = false;
  for (const item of items) {
    const place = placeOf(item);
    if (place === 'aside') continue;
    if (place === null) append(layout.foreign, after, item);
    else after = place;
  }
  return layout;

  /** The entry at which the item was placed. Null: not in the record. `aside`: a loose message or a poor copy. */
  function placeOf(item: Item): number | 'aside' | null {
    switch (item.type) {
      case 'tool_call': {
        const key = keys.get(item);
        const index = entries.findIndex(
          (entry, i) => entry.type === 'call' && entry.key === key && !layout.placed.has(i),
        );
        if (index < 0) return null;
        callSeen = true;
        layout.placed.set(index, [item]);
        return index;
      }
      case 'reasoning': {
        const index = entries.findIndex(
          (entry, i) => entry.type === 'reasoning' && isSame(item, entry.item) && !layout.placed.has(i),
        );
        const entry = entries[index];
        if (entry?.type !== 'reasoning') return isIncompleteCopy(item, recorded) ? 'aside' : null;
        layout.placed.set(index, [asSigned(item, entry.item)]);
        return index;
      }
      case 'message': {
        const pieces = cutMessage(item, entries, nextText);
        if (pieces.length === 0) {
          if (callSeen) return null;
          layout.loose.push(item);
          return 'aside';
        }
        for (const piece of pieces) layout.placed.set(piece.index, [piece.item]);
        nextText = (pieces.at(-1)?.last ?? nextText) + 1;
        return pieces.at(-1)?.index ?? null;
      }
      default:
        return null;
    }
  }
}

function append(map: Map<number, Item[]>, key: number, item: Item): void {
  const list = map.get(key);
  if (list) list.push(item);
  else map.set(key, [item]);
}

/** True when the client's item is complete: the same signature, or no signature and the same text. */
function isSame(sent: ReasoningItem, kept: ReasoningItem): boolean {
  if (kept.opaque) return sent.opaque?.data === kept.opaque.data && sent.opaque.format === kept.opaque.format;
  return sent.opaque === undefined && sent.format === kept.format && joined(sent) === joined(kept);
}

/** The client's item, or the record's if that has an id or parts that the client's protocol cannot express. */
function asSigned(sent: ReasoningItem, kept: ReasoningItem): ReasoningItem {
  const isWhole =
    sent.id === kept.id &&
    sent.text.length === kept.text.length &&
    sent.summary.length === kept.summary.length;
  if (!isWhole) return { ...kept, path: sent.path, cache: sent.cache };
  // Only its own protocol can express what it stands on.
  return sent.opaque?.standsOn === kept.opaque?.standsOn ? sent : { ...sent, opaque: kept.opaque };
}

/** The record's reasoning without its signature, parts or format. */
function isIncompleteCopy(sent: ReasoningItem, recorded: readonly ReasoningItem[]): boolean {
  if (sent.id !== undefined && recorded.some((item) => item.id === sent.id)) return true;
  if (sent.opaque) return false;
  const text = joined(sent);
  const texts = recorded.map(joined).filter((t) => t !== '');
  if (text === '') return true;
  return texts.length > 0 && (texts.some((t) => t.includes(text)) || texts.every((t) => text.includes(t)));
}

function joined(item: ReasoningItem): string {
  return item.text.join('') || item.summary.join('');
}

interface Piece {
  /** First and last entry covered by the piece. */
  readonly index: number;
  readonly last: number;
  readonly item: MessageItem;
}

/**
 * Splits a message as recorded. Chat Completions has one text per turn, so clients send several messages as one. It is
 * split only if every piece is unchanged.
 * @returns nothing when the text differs from the record
 */
function cutMessage(message: MessageItem, entries: readonly TurnEntry[], from: number): Piece[] {
  const text = messageText(message);
  if (!text) return [];
  for (let start = from; start < entries.length; start++) {
    if (entries[start]?.type !== 'text') continue;
    const cuts: { index: number; last: number; start: number; end: number }[] = [];
    let offset = 0;
    for (let i = start; i < entries.length && offset < text.length; i++) {
      const entry = entries[i];
      if (entry?.type !== 'text') continue;
      const end = offset + entry.length;
      if (end > text.length || textHash(text.slice(offset, end)) !== entry.hash) break;
      const previous = cuts.at(-1);
      // Adjacent entries need no split.
      if (previous && previous.last === i - 1) cuts[cuts.length - 1] = { ...previous, last: i, end };
      else cuts.push({ index: i, last: i, start: offset, end });
      offset = end;
    }
    if (offset !== text.length) continue;
    if (cuts.length === 1) return cuts.map(({ index, last }) => ({ index, last, item: message }));
    return cuts.map(({ index, last, start: a, end: b }) => ({ index, last, item: slice(message, a, b) }));
  }
  return [];
}

/** Part of a message between two text offsets, without the raw form of the whole. */
function slice(message: MessageItem, start: number, end: number): MessageItem {
  const parts: Part[] = [];
  let offset = 0;
  for (const part of message.parts) {
    const text = part.type === 'text' ? part.text : part.type === 'refusal' ? part.refusal : '';
    const a = Math.max(start - offset, 0);
    const b = Math.min(end - offset, text.length);
    offset += text.length;
    if (a >= b) continue;
    if (a === 0 && b === text.length) parts.push(part);
    else if (part.type === 'refusal')
      parts.push({ type: 'refusal', refusal: text.slice(a, b), path: part.path });
    // A cache breakpoint marks the end of its part.
    else
      parts.push({
        type: 'text',
        text: text.slice(a, b),
        path: part.path,
        ...(b === text.length && part.cache ? { cache: part.cache } : {}),
      });
  }
  const { source: _, ...rest } = message;
  return { ...rest, parts };
}
