// Encodes canonical events as a Responses stream: every item and part is opened, filled and ended in this order,
// exactly once. Items are encoded as in whole answers. It runs once per token, so the constant text of a delta is
// cached per part.
import { eventFrame, isEventName } from '../../../base/lib/event-stream.ts';
import type { JsonObject, JsonValue } from '../../../base/json/index.ts';
import type {
  AnnotateEvent,
  ArgumentsEvent,
  CanonicalEvent,
  CloseEvent,
  EventSink,
  FinishEvent,
  GatewayError,
  OpenEvent,
  ReasoningEvent,
  StartEvent,
  TextEvent,
  UnknownEvent,
  Usage,
} from '../../../canonical/index.ts';
import type { AnswerContext } from '../../protocol.ts';
import { restOf } from '../../members/answer-rest.ts';
import { StreamEncoder } from '../../streams/stream-encoder.ts';
import { ANSWER_MEMBERS } from './answer-members.ts';
import {
  encodeAnnotation,
  encodeOutputItem,
  encodeOutputPart,
  isShown,
  isShownAsSummary,
  ItemIds,
  reasoningPart,
  summaryPart,
} from './encode-output-item.ts';
import { encodeFailure, encodeResponseObject, outcomeOf } from './encode-response-object.ts';
import type { Outcome } from './encode-response-object.ts';
import { argumentsAtStart, eventsAtEnd, progressAtStart, isProgress } from './hosted-progress.ts';
import { isSilent } from './include-gates.ts';
import { ItemDraft } from './item-draft.ts';
import type { PartDraft, PartKind } from './item-draft.ts';
import { partEvents } from './part-events.ts';

/** Creates the response object in an event. @param output complete items only */
export type EncodeEnvelope = (
  start: StartEvent,
  outcome: Outcome,
  output: readonly JsonObject[],
  usage: Usage | undefined,
  rest?: JsonObject,
) => JsonObject;

/**
 * Starts a stream. Nothing is written before the first event, or after `finish` or `error`.
 * @param write takes complete frames
 * @param envelope creates the response object, if not from the request and the events
 */
export function encodeStream(
  write: (frames: string) => void,
  context: AnswerContext,
  envelope: EncodeEnvelope = (...parts) => encodeResponseObject(context, ...parts),
): EventSink {
  return new ResponsesStreamEncoder(write, context, envelope);
}

class ResponsesStreamEncoder extends StreamEncoder {
  readonly #envelope: EncodeEnvelope;
  readonly #ids: ItemIds;
  /** Items by canonical index; undefined: not shown. */
  readonly #items: (ItemDraft | undefined)[] = [];
  readonly #byUpstreamId = new Map<string, ItemDraft>();
  /** Complete items by output index; sparse. */
  readonly #output: JsonObject[] = [];
  readonly #logprobs: boolean;
  #begun = false;
  #shown = 0;
  #sequence = 0;
  /** Frames of the current event, written together. */
  #frames = '';
  /** Last item, if it is reasoning without content so far. At the end of an answer it is omitted. */
  #held: ItemDraft | undefined;
  /** Last item, once it is closed. Its end is written later, because its status depends on what follows. */
  #closed: ItemDraft | undefined;

  constructor(write: (frames: string) => void, context: AnswerContext, envelope: EncodeEnvelope) {
    super(write, context);
    this.#envelope = envelope;
    this.#ids = new ItemIds(context.id);
    this.#logprobs = context.request.logprobs === true;
  }

  override on(event: CanonicalEvent): void {
    super.on(event);
    if (this.#frames === '') return;
    const frames = this.#frames;
    this.#frames = '';
    this.write(frames);
  }

  protected override onStart(): void {
    this.#begin();
  }

  #begin(): void {
    if (this.#begun) return;
    this.#begun = true;
    const response = this.#response({ status: 'in_progress' });
    this.#frame('response.created', { response });
    this.#frame('response.in_progress', { response });
  }

  protected override onOpen(event: OpenEvent): void {
    this.#begin();
    if (!isShown(event.item)) return;
    this.#showHeld();
    const place = this.#shown++;
    const draft = new ItemDraft(event.item, this.#ids.take(event.item, place), place);
    this.#items[event.index] = draft;
    if ('id' in event.item && event.item.id !== undefined) this.#byUpstreamId.set(event.item.id, draft);
    if (place > 0 && event.item.type === 'reasoning') this.#held = draft;
    else this.#show(draft);
  }

  #show(draft: ItemDraft): void {
    this.#endClosed('completed');
    const { place } = draft;
    const item = encodeOutputItem(draft.item(), draft.id, 'in_progress', this.context);
    this.#frame('response.output_item.added', { output_index: place, item });
    for (const type of progressAtStart(item)) this.#itemFrame(type, draft, {});
    for (const [type, members] of argumentsAtStart(item)) this.#itemFrame(type, draft, members);
  }

  /** Writes the held item, because it has content or another item follows. */
  #showHeld(): void {
    const draft = this.#held;
    if (!draft) return;
    this.#held = undefined;
    this.#show(draft);
    if (draft.isClosed) this.#closed = draft;
  }

  protected override onText(event: TextEvent): void {
    const draft = this.#items[event.index];
    if (!draft) return;
    const part = this.#part(draft, event.kind, event.part);
    const logprobs = this.#logprobs && event.logprobs ? event.logprobs : NONE;
    if (event.text === '' && logprobs.length === 0) return;
    part.text += event.text;
    for (const each of logprobs) part.logprobs.push(each);
    if (part.kind === 'refusal') this.#delta(part, event.text, '}\n\n');
    else if (logprobs.length === 0) this.#delta(part, event.text, ',"logprobs":[]}\n\n');
    else this.#delta(part, event.text, `,"logprobs":${JSON.stringify(logprobs)}}\n\n`);
  }

  protected override onReasoning(event: ReasoningEvent): void {
    const draft = this.#items[event.index];
    if (!draft) return;
    if (event.opaque) draft.opaque = event.opaque;
    if (event.text === '') return;
    if (draft === this.#held) this.#showHeld();
    const kind = event.kind === 'summary' ? 'summary' : 'reasoning';
    const isSummary = kind === 'summary' || isShownAsSummary(formatOf(draft), this.context);
    const part = this.#part(draft, kind, event.part, isSummary ? 'summary' : 'reasoning');
    part.text += event.text;
    this.#delta(part, event.text, '}\n\n');
  }

  protected override onArguments({ index, text }: ArgumentsEvent): void {
    const draft = this.#items[index];
    if (!draft || text === '' || draft.open.type !== 'tool_call') return;
    const type = isCustom(draft)
      ? 'response.custom_tool_call_input.delta'
      : 'response.function_call_arguments.delta';
    draft.arguments += text;
    draft.argumentsHead ||= head(type, `"item_id":"${draft.id}","output_index":${draft.place}`);
    this.#frames += `${draft.argumentsHead}${this.#sequence++},"delta":${JSON.stringify(text)}}\n\n`;
  }

  protected override onAnnotate(event: AnnotateEvent): void {
    const draft = this.#items[event.index];
    const annotation = encodeAnnotation(event.annotation);
    if (!draft || !annotation) return;
    const part = this.#part(draft, 'text', event.part);
    const annotation_index = part.annotations.push(event.annotation) - 1;
    this.#partFrame('response.output_text.annotation.added', draft, part, { annotation_index, annotation });
  }

  protected override onClose(event: CloseEvent): void {
    const draft = this.#items[event.index];
    if (!draft || draft.isClosed) return;
    draft.isClosed = true;
    draft.source = event.source;
    draft.facts = event.facts;
    if (draft === this.#held) {
      if (!isSilent(encodeOutputItem(draft.item(), draft.id, 'completed', this.context))) this.#showHeld();
    } else if (draft.place === this.#shown - (this.#held ? 2 : 1)) this.#closed = draft;
    else this.#endItem(draft, 'completed');
  }

  /** Writes the end of the last item, if it is closed and not yet ended. */
  #endClosed(status: 'completed' | 'incomplete'): void {
    const draft = this.#closed;
    this.#closed = undefined;
    if (draft) this.#endItem(draft, status);
  }

  #endItem(draft: ItemDraft, status: 'completed' | 'incomplete'): void {
    for (const part of draft.parts) this.#endPart(draft, part);
    if (draft.open.type === 'tool_call') {
      const { name } = draft.open;
      if (isCustom(draft))
        this.#itemFrame('response.custom_tool_call_input.done', draft, { input: draft.arguments });
      else
        this.#itemFrame('response.function_call_arguments.done', draft, { name, arguments: draft.arguments });
    }
    const item = encodeOutputItem(draft.item(), draft.id, status, this.context);
    for (const [type, members] of eventsAtEnd(item, draft.place)) this.#frame(type, members);
    this.#output[draft.place] = item;
    this.#frame('response.output_item.done', { output_index: draft.place, item });
  }

  #endPart(draft: ItemDraft, part: PartDraft): void {
    const { text } = part;
    const { done } = partEvents(part.kind, this.context);
    switch (part.kind) {
      case 'text':
        this.#partFrame(done, draft, part, { text, logprobs: part.logprobs });
        this.#partFrame('response.content_part.done', draft, part, { part: this.#wirePart(part) });
        return;
      case 'refusal':
        this.#partFrame(done, draft, part, { refusal: text });
        this.#partFrame('response.content_part.done', draft, part, { part: this.#wirePart(part) });
        return;
      case 'summary':
        this.#partFrame(done, draft, part, { text });
        this.#partFrame('response.reasoning_summary_part.done', draft, part, { part: summaryPart(text) });
        return;
      case 'reasoning':
        this.#partFrame(done, draft, part, { text });
        this.#partFrame('response.content_part.done', draft, part, { part: reasoningPart(text) });
    }
  }

  protected override onFinish(event: FinishEvent): void {
    this.#begin();
    const saysRefusal = this.#items.some((draft) => draft?.parts.some((part) => part.kind === 'refusal'));
    const outcome = outcomeOf(event, saysRefusal);
    const last = outcome.status === 'incomplete' ? 'incomplete' : 'completed';
    this.#closeOpen();
    this.#endClosed(last);
    this.#end(`response.${outcome.status}`, outcome, restOf(event, ANSWER_MEMBERS).outer);
  }

  /** Ends items that a decoder left open. */
  #closeOpen(): void {
    this.#items.forEach((draft, index) => {
      if (draft && !draft.isClosed) this.onClose({ type: 'close', index });
    });
  }

  /** OpenAI's SDKs throw on `error`. Other clients wait for `response.failed`, which ends the stream. */
  protected override onError(error: GatewayError): void {
    this.#begin();
    this.#endClosed('completed');
    // Open items end as incomplete, so that each `added` event has its `done`.
    for (const draft of this.#items)
      if (draft && !draft.isClosed && draft !== this.#held) this.#endItem(draft, 'incomplete');
    const { code, message } = encodeFailure(error);
    this.#frame('error', { code: error.code ?? code, message, param: error.param ?? null });
    this.#end('response.failed', { status: 'failed', error });
  }

  #end(type: string, outcome: Outcome, rest?: JsonObject): void {
    this.#frame(type, { response: this.#response(outcome, rest) });
  }

  /**
   * Passes on events that only this protocol has, renumbered. Progress of hosted tools is omitted, because the encoder
   * writes its own.
   */
  protected override onUnknown({ source }: UnknownEvent): void {
    const { raw } = source;
    const { type } = raw;
    if (source.protocol !== 'openai-responses' || !isEventName(type) || isProgress(type)) return;
    const id = raw['item_id'];
    const draft = typeof id === 'string' ? this.#byUpstreamId.get(id) : undefined;
    if (draft?.isClosed || (!draft && (id !== undefined || raw['output_index'] !== undefined))) return;
    this.#begin();
    if (draft && draft === this.#held) this.#showHeld();
    const place = draft ? { item_id: draft.id, output_index: draft.place } : {};
    this.#frame(type, { ...raw, ...place });
  }

  /** Returns the part with this number, and opens it if it is new. Skipped numbers become empty parts before it. */
  #part(draft: ItemDraft, kind: PartKind, number: number, shown = kind): PartDraft {
    const known = draft.find(kind, number);
    if (known) return known;
    let part: PartDraft;
    do {
      part = draft.add(kind, shown);
      const { delta, place } = partEvents(shown, this.context);
      part.head = head(
        delta,
        `"item_id":"${draft.id}","output_index":${draft.place},"${place}":${part.index}`,
      );
      if (shown === 'summary')
        this.#partFrame('response.reasoning_summary_part.added', draft, part, { part: summaryPart('') });
      else
        this.#partFrame('response.content_part.added', draft, part, {
          part: shown === 'reasoning' ? reasoningPart('') : this.#wirePart(part),
        });
    } while (draft.find(kind, number) === undefined);
    return part;
  }

  #wirePart(part: PartDraft): JsonObject {
    return encodeOutputPart(part.part(), this.context);
  }

  #delta(part: PartDraft, text: string, tail: string): void {
    this.#frames += `${part.head}${this.#sequence++},"delta":${JSON.stringify(text)}${tail}`;
  }

  #partFrame(type: string, draft: ItemDraft, part: PartDraft, members: JsonObject): void {
    this.#itemFrame(type, draft, { [partEvents(part.kind, this.context).place]: part.index, ...members });
  }

  #itemFrame(type: string, draft: ItemDraft, members: JsonObject): void {
    this.#frame(type, { item_id: draft.id, output_index: draft.place, ...members });
  }

  #frame(type: string, members: JsonObject): void {
    const data = JSON.stringify({ ...members, type, sequence_number: this.#sequence++ });
    this.#frames += eventFrame(type, data);
  }

  #response(outcome: Outcome, rest?: JsonObject): JsonObject {
    // Items that were never completed are omitted.
    const output = this.#output.filter((item) => item !== undefined);
    return this.#envelope(this.start, outcome, output, this.usage, rest);
  }
}

const NONE: readonly JsonValue[] = Object.freeze([]);

function formatOf({ open }: ItemDraft): string | undefined {
  return open.type === 'reasoning' ? open.format : undefined;
}

function isCustom(draft: ItemDraft): boolean {
  return draft.open.type === 'tool_call' && draft.open.kind === 'custom';
}

/** Returns a delta up to its sequence number. Ids need no escaping. */
function head(type: string, place: string): string {
  return `event: ${type}\ndata: {"type":"${type}",${place},"sequence_number":`;
}
