// Decodes the items of one Responses answer into canonical events. Each piece is emitted exactly once, whether it
// arrives in deltas, only in a finished item, or only in the finished answer.
import {
  asArray,
  asNumber,
  asObject,
  asString,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../../base/json/index.ts';
import type { EventSink } from '../../../canonical/index.ts';
import { CallIds } from '../../calls/call-ids.ts';
import { ItemWriter } from '../../streams/item-writer.ts';
import type { CodecContext } from '../../protocol.ts';
import { readFacts } from '../hosted-facts.ts';
import {
  decodeAnnotation,
  decodeOpaque,
  decodeOpen,
  type ItemKind,
  kindOfItem,
  sourceOf,
  textOfPart,
} from '../decode-item.ts';
import type { CountedCalls } from './decode-usage.ts';
import { ItemRuns, type Run } from './item-runs.ts';

interface Slot {
  readonly kind: ItemKind;
  readonly id: string | undefined;
  readonly outputIndex: number | undefined;
  /** Canonical index; -1 until the item is opened. */
  index: number;
  closed: boolean;
  /** True once an item of the finished answer was matched with this one. */
  matched: boolean;
  /** Parts of a message, or of a chain of thought. */
  readonly parts: ItemRuns;
  readonly summary: ItemRuns;
  arguments: string;
  /** `added` item that could not be opened yet. */
  announced: JsonObject | undefined;
}

export class ItemEmitter {
  readonly calls: CountedCalls = { webSearch: 0, fileSearch: 0 };
  /** True once a call for the client was opened. */
  hasToolCalls = false;
  readonly #out: ItemWriter;
  readonly #ids: CallIds;
  readonly #slots: Slot[] = [];
  readonly #byIndex = new Map<number, Slot>();
  readonly #byId = new Map<string, Slot>();

  constructor(sink: EventSink, context: CodecContext) {
    this.#out = new ItemWriter(sink);
    this.#ids = new CallIds(context, 'call_');
  }

  /** Handles `response.output_item.added`: opens the item if it has enough members. */
  added(outputIndex: JsonValue | undefined, item: JsonObject): void {
    if (!hasType(item)) return;
    const known = this.#find(outputIndex, item['id']);
    const kind = kindOfItem(asString(item['type']) ?? '');
    const id = asString(item['id']);
    if (known && known.kind === kind && known.id === id && !known.closed) return;
    const slot = this.#newSlot(kind, id, asNumber(outputIndex));
    slot.announced = item;
    this.#open(slot, item, false);
  }

  /** Handles a delta of text or of a refusal. */
  text(frame: JsonObject, kind: 'text' | 'refusal'): void {
    const delta = frame['delta'];
    if (typeof delta !== 'string' || delta === '') return;
    const slot = this.#slotOf(frame, 'message');
    if (slot) this.#emitText(slot, slot.parts.at(partIndex(frame), kind), delta, asArray(frame['logprobs']));
  }

  /** Handles a complete text part or refusal: emits what the deltas did not contain. */
  textDone(frame: JsonObject, kind: 'text' | 'refusal'): void {
    const whole = frame[kind];
    if (typeof whole !== 'string' || whole === '') return;
    const slot = this.#slotOf(frame, 'message');
    if (slot) this.#emitWholeText(slot, slot.parts.at(partIndex(frame), kind), whole, frame['logprobs']);
  }

  /** Handles a delta of a reasoning summary (`summary_index`) or of a raw chain of thought (`content_index`). */
  reasoning(frame: JsonObject, kind: 'text' | 'summary'): void {
    const delta = frame['delta'];
    if (typeof delta !== 'string' || delta === '') return;
    const slot = this.#slotOf(frame, 'reasoning');
    if (!slot) return;
    const runs = kind === 'summary' ? slot.summary : slot.parts;
    this.#emitReasoning(slot, runs.at(partIndex(frame), 'text'), kind, delta);
  }

  /** Handles a complete reasoning part: emits what the deltas did not contain. */
  reasoningDone(frame: JsonObject, kind: 'text' | 'summary'): void {
    const whole = frame['text'];
    if (typeof whole !== 'string' || whole === '') return;
    const slot = this.#slotOf(frame, 'reasoning');
    if (!slot) return;
    const runs = kind === 'summary' ? slot.summary : slot.parts;
    const run = runs.at(partIndex(frame), 'text');
    this.#emitReasoning(slot, run, kind, remainder(run.text, whole));
  }

  /** Handles a delta of a call's arguments, or of a custom tool's input. */
  arguments(frame: JsonObject): void {
    const delta = frame['delta'];
    if (typeof delta !== 'string' || delta === '') return;
    const slot = this.#openCall(frame);
    if (slot) this.#emitArguments(slot, delta);
  }

  /** Handles the complete arguments or input of a call: emits what the deltas did not contain. */
  argumentsDone(frame: JsonObject): void {
    const whole = frame['arguments'] ?? frame['input'];
    if (typeof whole !== 'string' || whole === '') return;
    const slot = this.#openCall(frame);
    if (slot) this.#emitArguments(slot, remainder(slot.arguments, whole));
  }

  /** Handles `response.output_text.annotation.added`. */
  annotation(frame: JsonObject): void {
    const raw = frame['annotation'];
    if (!isJsonObject(raw)) return;
    const slot = this.#slotOf(frame, 'message');
    if (!slot) return;
    this.#emitAnnotation(slot, slot.parts.at(partIndex(frame), 'text'), raw);
  }

  /** Handles `response.output_item.done`: emits what was not streamed, then closes the item. */
  done(outputIndex: JsonValue | undefined, item: JsonObject): void {
    if (!hasType(item)) return;
    const kind = kindOfItem(asString(item['type']) ?? '');
    const id = asString(item['id']);
    const known = this.#find(outputIndex, item['id']);
    if (known && known.kind === kind) {
      if (!known.closed) return this.#finish(known, item);
      if (known.id === id) return;
    }
    this.#finish(this.#newSlot(kind, id, asNumber(outputIndex)), item);
  }

  /** Takes the items of the finished answer: emits missing ones, and closes all others. */
  complete(output: readonly JsonValue[]): void {
    const rest: { item: JsonObject; place: number }[] = [];
    for (let place = 0; place < output.length; place++) {
      const item = output[place];
      if (!isJsonObject(item) || !hasType(item)) continue;
      const slot = this.#byId.get(asString(item['id']) ?? '');
      if (slot && !slot.matched && slot.kind === kindOfItem(asString(item['type']) ?? '')) {
        this.#match(slot, item);
      } else {
        rest.push({ item, place });
      }
    }
    // Some servers change an item's id in each event. Those items are matched by index, then by kind.
    const free = new Map<ItemKind, Slot[]>();
    // Reversed, so that `pop` returns the first.
    for (const slot of rest.length > 0 ? this.#slots.toReversed() : [])
      if (!slot.matched) listed(free, slot.kind).push(slot);
    for (const { item, place } of rest) {
      const kind = kindOfItem(asString(item['type']) ?? '');
      const byPlace = this.#byIndex.get(place);
      let slot = byPlace?.kind === kind && !byPlace.matched ? byPlace : undefined;
      const others = free.get(kind) ?? [];
      while (!slot && others.length > 0) {
        const next = others.pop();
        if (next?.matched === false) slot = next;
      }
      this.#match(slot ?? this.#newSlot(kind, asString(item['id']), undefined), item);
    }
    this.closeAll();
  }

  /** Closes all open items, for an answer that ended without its final items. */
  closeAll(): void {
    for (const slot of this.#slots) {
      if (slot.closed) continue;
      slot.closed = true;
      if (slot.index >= 0) this.#out.close(slot.index);
      else if (slot.announced) this.#out.on({ type: 'unknown', source: sourceOf(slot.announced) });
    }
  }

  #match(slot: Slot, item: JsonObject): void {
    slot.matched = true;
    if (!slot.closed) this.#finish(slot, item);
  }

  #newSlot(kind: ItemKind, id: string | undefined, outputIndex: number | undefined): Slot {
    const slot: Slot = {
      kind,
      id,
      outputIndex,
      index: -1,
      closed: false,
      matched: false,
      parts: new ItemRuns(),
      summary: new ItemRuns(),
      arguments: '',
      announced: undefined,
    };
    this.#slots.push(slot);
    if (outputIndex !== undefined) this.#byIndex.set(outputIndex, slot);
    if (id) this.#byId.set(id, slot);
    return slot;
  }

  /** Finds the item of a frame by its index, unless the id shows that the index is used twice. */
  #find(outputIndex: JsonValue | undefined, itemId: JsonValue | undefined): Slot | undefined {
    const byIndex = typeof outputIndex === 'number' ? this.#byIndex.get(outputIndex) : undefined;
    if (byIndex && (byIndex.id === itemId || typeof itemId !== 'string')) return byIndex;
    if (typeof itemId !== 'string') return typeof outputIndex === 'number' ? undefined : this.#slots.at(-1);
    return this.#byId.get(itemId) ?? byIndex;
  }

  /** Finds the call of a frame. Undefined before its name is known (the finished item has both), and after its end. */
  #openCall(frame: JsonObject): Slot | undefined {
    const slot = this.#find(frame['output_index'], frame['item_id']);
    return slot && slot.kind === 'tool_call' && slot.index >= 0 && !slot.closed ? slot : undefined;
  }

  /** Finds the item for a delta, and opens it if its `added` event is missing. Undefined after the item's end. */
  #slotOf(frame: JsonObject, kind: 'message' | 'reasoning'): Slot | undefined {
    const slot = this.#find(frame['output_index'], frame['item_id']);
    const itemId = frame['item_id'];
    if (slot && slot.kind === kind && !slot.closed) return slot;
    if (slot && slot.kind === kind && slot.id === itemId) return undefined;
    const id = asString(itemId);
    const added = this.#newSlot(kind, id, asNumber(frame['output_index']));
    this.#open(added, { type: kind, ...(id === undefined ? {} : { id }) }, false);
    return added;
  }

  #open(slot: Slot, item: JsonObject, complete: boolean): void {
    const open = decodeOpen(item, complete, this.#ids);
    if (!open) return;
    slot.announced = undefined;
    if (open.type === 'tool_call') this.hasToolCalls = true;
    slot.index = this.#out.open(open);
  }

  #finish(slot: Slot, item: JsonObject): void {
    slot.closed = true;
    if (slot.index < 0) this.#open(slot, item, true);
    if (slot.kind === 'message') this.#finishMessage(slot, item);
    else if (slot.kind === 'reasoning') this.#finishReasoning(slot, item);
    else if (slot.kind === 'tool_call') this.#finishCall(slot, item);
    else this.#count(item);
    this.#out.close(slot.index, sourceOf(item), readFacts(item), unreportedOf(slot.kind, item));
  }

  #finishMessage(slot: Slot, item: JsonObject): void {
    const content = item['content'];
    // Some servers send the text as a string.
    const parts = typeof content === 'string' ? [{ type: 'output_text', text: content }] : asArray(content);
    for (let at = 0; at < parts.length; at++) {
      const part = asObject(parts[at]);
      const known = textOfPart(part);
      if (!known) continue;
      const { kind, text } = known;
      const annotations = asArray(part['annotations']);
      if (text === '' && annotations.length === 0) continue;
      const run = slot.parts.final(at, parts.length, kind);
      this.#emitWholeText(slot, run, text, part['logprobs']);
      for (let n = run.annotations; n < annotations.length; n++)
        this.#emitAnnotation(slot, run, asObject(annotations[n]));
    }
  }

  #finishReasoning(slot: Slot, item: JsonObject): void {
    this.#finishRuns(slot, slot.summary, asArray(item['summary']), 'summary');
    this.#finishRuns(slot, slot.parts, asArray(item['content']), 'text');
    const opaque = decodeOpaque(item);
    if (opaque) this.#out.opaque(slot.index, opaque);
  }

  #finishRuns(slot: Slot, runs: ItemRuns, parts: readonly JsonValue[], kind: 'text' | 'summary'): void {
    for (let at = 0; at < parts.length; at++) {
      const text = asString(asObject(parts[at])['text']) ?? '';
      if (text === '') continue;
      const run = runs.final(at, parts.length, 'text');
      this.#emitReasoning(slot, run, kind, remainder(run.text, text));
    }
  }

  #finishCall(slot: Slot, item: JsonObject): void {
    const whole = asString(item[item['type'] === 'custom_tool_call' ? 'input' : 'arguments']) ?? '';
    this.#emitArguments(slot, remainder(slot.arguments, whole));
  }

  /**
   * Counts billed calls. For web search, only searches are billed, not opened pages or searches in a page (OpenAI guide
   * "Web search", "Output and citations").
   */
  #count(item: JsonObject): void {
    if (item['status'] !== undefined && item['status'] !== 'completed') return;
    if (item['type'] === 'file_search_call') this.calls.fileSearch++;
    if (item['type'] !== 'web_search_call') return;
    const action = asObject(item['action'])['type'];
    if (action === undefined || action === 'search') this.calls.webSearch++;
  }

  #emitText(slot: Slot, run: Run, text: string, logprobs: readonly JsonValue[]): void {
    if (text === '') return;
    run.text += text;
    this.#out.text(slot.index, run.part, text, run.kind, logprobs);
  }

  /** Emits what is missing of a part. Its log probabilities are only added if there was no text before. */
  #emitWholeText(slot: Slot, run: Run, whole: string, logprobs: JsonValue | undefined): void {
    this.#emitText(slot, run, remainder(run.text, whole), run.text === '' ? asArray(logprobs) : []);
  }

  #emitArguments(slot: Slot, text: string): void {
    if (text === '') return;
    slot.arguments += text;
    this.#out.arguments(slot.index, text);
  }

  #emitReasoning(slot: Slot, run: Run, kind: 'text' | 'summary', text: string): void {
    if (text === '') return;
    run.text += text;
    this.#out.reasoning(slot.index, text, kind, run.part);
  }

  #emitAnnotation(slot: Slot, run: Run, raw: JsonObject): void {
    run.annotations++;
    this.#out.annotate(slot.index, run.part, decodeAnnotation(raw));
  }
}

function listed<Key, Value>(lists: Map<Key, Value[]>, key: Key): Value[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

/** Returns the upstream's index of the part that a frame belongs to. */
function partIndex(frame: JsonObject): number {
  return asNumber(frame['content_index'] ?? frame['summary_index']) ?? 0;
}

/** Returns the rest of `whole` after `sent`; empty if they differ, because sent text cannot be undone. */
function remainder(sent: string, whole: string): string {
  if (sent === '') return whole;
  return whole.length > sent.length && whole.startsWith(sent) ? whole.slice(sent.length) : '';
}

/** False for an item without a type from a broken server, which no client could interpret. */
function hasType(item: JsonObject): boolean {
  return typeof item['type'] === 'string' && item['type'] !== '';
}

/** Returns the members of a message that only this protocol has: its phase, and parts that are no text. */
function unreportedOf(kind: ItemKind, { phase, content }: JsonObject): readonly string[] | undefined {
  if (kind !== 'message') return undefined;
  const parts = asArray(content).flatMap((part, place) =>
    isJsonObject(part) && !textOfPart(part) ? [`content[${place}]`] : [],
  );
  const names = typeof phase === 'string' ? ['phase', ...parts] : parts;
  return names.length > 0 ? names : undefined;
}
