// Encodes canonical events as a Messages stream. Blocks are numbered from 0 without gaps, and each ends before the next
// begins, whatever the order of the input.
import { isEventName } from '../../../base/lib/event-stream.ts';
import type { JsonObject } from '../../../base/json/index.ts';
import type {
  AnnotateEvent,
  ArgumentsEvent,
  CanonicalEvent,
  CloseEvent,
  EventSink,
  ExtraEvent,
  FinishEvent,
  GatewayError,
  OpaqueReasoning,
  OpenEvent,
  OpenItem,
  ReasoningEvent,
  TextEvent,
  UnknownEvent,
} from '../../../canonical/index.ts';
import { parseJson } from '../../../base/json/index.ts';
import { NO_USAGE } from '../../../canonical/index.ts';
import { PARAGRAPH } from '../../content/paragraphs.ts';
import type { AnswerContext } from '../../protocol.ts';
import { restOf } from '../../members/answer-rest.ts';
import { StreamEncoder } from '../../streams/stream-encoder.ts';
import { ANSWER_MEMBERS } from './answer-members.ts';
import { BlockWriter } from './block-writer.ts';
import type { StreamedBlock } from './block-writer.ts';
import { encodeCitation } from '../citations.ts';
import { encodeFacts, foreignId } from '../hosted-blocks.ts';
import { callMembers, ownBlock, sealReasoning } from './encode-blocks.ts';
import { encodeEnvelope, encodeStop, showsRefusal } from './encode-envelope.ts';
import { encodeErrorBody } from './encode-error.ts';
import { encodeUsage } from './encode-usage.ts';

interface ReasoningState {
  readonly type: 'reasoning';
  readonly id: string | undefined;
  readonly format: string | undefined;
  opaque: OpaqueReasoning | undefined;
  /** Kind and part of the last text. Another part begins a new paragraph. */
  last: string;
  isSummary: boolean;
}
interface CallState {
  readonly type: 'call';
  readonly item: Extract<OpenItem, { type: 'tool_call' }>;
  arguments: string;
  /** Length of the arguments at the last check that found them incomplete. */
  checked: number;
}
interface RawState {
  readonly type: 'raw';
  readonly block: JsonObject | undefined;
  /** Id for the blocks of another vendor's work. */
  readonly id: string;
}
type ItemState = ReasoningState | CallState | RawState;

/** The open block. */
interface Block {
  readonly type: StreamedBlock;
  /** Index of its item, and the part for text. */
  readonly item: number;
  readonly part: number;
  text: string;
}

/** Events of items, which can be queued until the end of a call. */
type ItemEvent = Extract<CanonicalEvent, { index: number }>;

/** Creates a sink that writes one stream. After `finish` or `error` it ignores further events. */
export function encodeStream(write: (frames: string) => void, context: AnswerContext): EventSink {
  return new MessagesStreamEncoder(write, context);
}

class MessagesStreamEncoder extends StreamEncoder {
  readonly #out: BlockWriter;
  readonly #exclude: boolean;
  readonly #items: (ItemState | undefined)[] = [];
  /** Events queued until the end of the open call, by item in order of appearance. */
  readonly #waiting = new Map<number, ItemEvent[]>();
  #started = false;
  #block: Block | undefined;
  #toolCalls = 0;
  #refusal = '';

  constructor(write: (frames: string) => void, context: AnswerContext) {
    super(write, context);
    this.#out = new BlockWriter(write);
    this.#exclude = context.request.reasoning.exclude === true;
  }

  /** Queues events between the arguments of a call, because these must be in one block. */
  override on(event: CanonicalEvent): void {
    if (this.done || !('index' in event)) return super.on(event);
    const open = this.#block;
    if (open?.type === 'tool_use' && open.item !== event.index) {
      if (this.#isComplete(open.item)) {
        this.#end();
        this.#release();
      }
      if (this.#block?.type === 'tool_use' && this.#block.item !== event.index) {
        this.#wait(event);
        return;
      }
    }
    super.on(event);
    if (this.#waiting.size > 0 && this.#block?.type !== 'tool_use') this.#release();
  }

  #wait(event: ItemEvent): void {
    const events = this.#waiting.get(event.index);
    if (events) events.push(event);
    else this.#waiting.set(event.index, [event]);
  }

  /** Writes queued items, up to the next incomplete call. */
  #release(): void {
    for (const [index, events] of this.#waiting) {
      this.#waiting.delete(index);
      for (const event of events) super.on(event);
      if (this.#block?.type !== 'tool_use') continue;
      if (!this.#isComplete(this.#block.item)) return;
      this.#end();
    }
  }

  protected override onOpen({ index, item }: OpenEvent): void {
    switch (item.type) {
      case 'message':
        return;
      case 'reasoning': {
        const { id, format } = item;
        const fresh = { opaque: undefined, last: '', isSummary: true };
        this.#items[index] = { type: 'reasoning', id, format, ...fresh };
        return;
      }
      case 'tool_call':
        this.#items[index] = { type: 'call', item, arguments: '', checked: -1 };
        this.#toolCalls++;
        this.#start('tool_use', index, 0, callMembers(item));
        if (item.kind === 'custom') this.#out.text(CUSTOM_INPUT[0]);
        return;
      case 'hosted_call':
      case 'unknown':
        this.#items[index] = {
          type: 'raw',
          block: ownBlock(item.source),
          id: foreignId(item, index, this.context),
        };
        return;
      // The Messages API cannot express a compaction.
      case 'compaction':
        return;
    }
  }

  protected override onText({ index, part, kind, text }: TextEvent): void {
    if (text === '') return;
    // Text of a refusal is held, because only the end tells if it becomes content.
    if (kind === 'refusal') this.#refusal += text;
    else this.#delta(this.#textBlock(index, part), text);
  }

  #textBlock(item: number, part: number): Block {
    const open = this.#block;
    if (open?.type === 'text' && open.item === item && open.part === part) return open;
    return this.#start('text', item, part, EMPTY_TEXT);
  }

  protected override onReasoning({ index, kind, part, text, opaque }: ReasoningEvent): void {
    const item = this.#items[index];
    if (item?.type !== 'reasoning') return;
    if (opaque) item.opaque = opaque;
    if (text === '') return;
    if (kind === 'text') item.isSummary = false;
    if (this.#exclude) return;
    const place = `${kind} ${part}`;
    const isLater = item.last !== '' && item.last !== place;
    item.last = place;
    const block = this.#thinkingBlock(index);
    this.#delta(block, isLater && block.text !== '' ? PARAGRAPH + text : text);
  }

  #thinkingBlock(index: number): Block {
    const open = this.#block;
    if (open?.type === 'thinking' && open.item === index) return open;
    return this.#start('thinking', index, 0, { type: 'thinking', thinking: '', signature: '' });
  }

  protected override onArguments({ index, text }: ArgumentsEvent): void {
    const item = this.#items[index];
    if (item?.type !== 'call' || text === '' || this.#block?.item !== index) return;
    item.arguments += text;
    this.#out.text(item.item.kind === 'custom' ? JSON.stringify(text).slice(1, -1) : text);
  }

  protected override onAnnotate({ index, part, annotation }: AnnotateEvent): void {
    const open = this.#block;
    const isHere = open?.type === 'text' && open.item === index && open.part === part;
    const citation = encodeCitation(annotation, isHere ? open.text : '');
    if (!citation) return;
    this.#textBlock(index, part);
    this.#out.delta({ type: 'citations_delta', citation });
  }

  protected override onClose({ index, source, facts }: CloseEvent): void {
    const item = this.#items[index];
    if (item?.type === 'call') {
      if (this.#block?.type === 'tool_use' && this.#block.item === index) this.#end();
      return;
    }
    if (item?.type === 'raw') {
      const block = ownBlock(source) ?? item.block;
      if (block) this.#writeWhole(block);
      else if (facts) for (const each of encodeFacts(facts, item.id)) this.#writeWhole(each);
    } else if (item?.type === 'reasoning') this.#closeReasoning(index, item);
    this.#items[index] = undefined;
  }

  /** Ends the thinking block, or writes the signature of an item without visible text. */
  #closeReasoning(index: number, item: ReasoningState): void {
    if (this.#block?.type === 'thinking' && this.#block.item === index) {
      this.#end();
      return;
    }
    const seal = sealReasoning(item, false);
    if (seal === undefined) return;
    item.opaque = undefined;
    if ('redacted' in seal) {
      this.#writeWhole(seal.redacted);
      return;
    }
    this.#start('thinking', index, 0, { type: 'thinking', thinking: '', signature: '' });
    this.#signature(seal.signature);
    this.#block = undefined;
    this.#out.stop();
  }

  #writeWhole(block: JsonObject): void {
    this.#end();
    this.#begin();
    this.#out.whole(block);
  }

  #start(type: StreamedBlock, item: number, part: number, block: JsonObject): Block {
    this.#end();
    this.#begin();
    this.#out.start(block, type);
    return (this.#block = { type, item, part, text: '' });
  }

  #delta(block: Block, text: string): void {
    // Citations quote the text. For other kinds it only matters whether there is any.
    if (block.type === 'text') block.text += text;
    else block.text ||= text;
    this.#out.text(text);
  }

  #signature(signature: string): void {
    this.#out.delta({ type: 'signature_delta', signature });
  }

  /** Ends the open block, if there is one. Thinking gets its signature. */
  #end(): void {
    const open = this.#block;
    if (!open) return;
    this.#block = undefined;
    const item = this.#items[open.item];
    if (item?.type === 'call' && item.item.kind === 'custom') this.#out.text(CUSTOM_INPUT[1]);
    if (open.type === 'thinking') {
      const seal = item?.type === 'reasoning' ? sealReasoning(item, true) : undefined;
      if (seal && 'signature' in seal) this.#signature(seal.signature);
      // Later parts of this item must not be signed again.
      if (item?.type === 'reasoning') item.opaque = undefined;
    }
    this.#out.stop();
  }

  #isComplete(index: number): boolean {
    const item = this.#items[index];
    if (item?.type !== 'call' || item.item.kind === 'custom') return false;
    if (item.checked === item.arguments.length) return false;
    item.checked = item.arguments.length;
    return parseJson(item.arguments) !== undefined;
  }

  #begin(): void {
    if (this.#started) return;
    this.#started = true;
    const counted = this.usage ?? {
      ...NO_USAGE,
      input: { ...NO_USAGE.input, uncached: this.context.estimateInputTokens?.() ?? 0 },
    };
    const message = {
      ...encodeEnvelope(this.context, []),
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: encodeUsage(counted),
    };
    this.#out.frame('message_start', { message });
    this.#out.frame('ping', {});
  }

  /** Passes on a frame about an open block, with the block's own index. */
  protected override onExtra({ index, part, source }: ExtraEvent): void {
    const { type, ...members } = source.raw;
    if (source.protocol !== 'anthropic-messages' || !isEventName(type)) return;
    const block = this.#blockFor(index, part);
    if (block) this.#out.about(type, members);
  }

  /** Returns the block of an item, and starts it if it has none yet. Undefined: it is not shown, or has ended. */
  #blockFor(index: number, part: number): Block | undefined {
    const item = this.#items[index];
    switch (item?.type) {
      case undefined:
        return this.#textBlock(index, part);
      case 'reasoning':
        return this.#exclude ? undefined : this.#thinkingBlock(index);
      case 'call':
        return this.#block?.item === index ? this.#block : undefined;
      case 'raw':
        return undefined;
    }
  }

  /** Passes on events that only this protocol has, unless they concern a block that is not open. */
  protected override onUnknown({ source }: UnknownEvent): void {
    const { type, ...members } = source.raw;
    if (source.protocol !== 'anthropic-messages' || !isEventName(type) || 'index' in members) return;
    this.#begin();
    this.#out.frame(type, members);
  }

  protected override onFinish(finish: FinishEvent): void {
    this.#end();
    while (this.#waiting.size > 0) {
      this.#release();
      this.#end();
    }
    this.#items.forEach((item, index) => {
      if (item?.type === 'reasoning') this.#closeReasoning(index, item);
    });
    const emitted = { toolCalls: this.#toolCalls, refusal: this.#refusal !== '' };
    if (showsRefusal(finish, emitted)) {
      this.#delta(this.#start('text', -1, 0, EMPTY_TEXT), this.#refusal);
      this.#end();
    }
    this.#begin();
    const usage = encodeUsage(this.usage ?? NO_USAGE, this.context.costUsd);
    const { outer, element } = restOf(finish, ANSWER_MEMBERS);
    const { container = null, stop_reason, ...rest } = outer;
    const stop = encodeStop(finish, emitted, this.#refusal);
    const delta = { container, ...stop, ...(stop_reason !== undefined && { stop_reason }), ...element };
    this.#out.frame('message_delta', { delta, usage, ...rest });
    this.#out.frame('message_stop', {});
  }

  /** No `message_stop` follows, so the error cannot be taken for a normal end. */
  protected override onError(error: GatewayError): void {
    this.#out.frame('error', encodeErrorBody(error, this.context.id));
  }
}

/** An empty text as Anthropic sends it: without `citations`, because some clients refuse `null`. */
const EMPTY_TEXT: JsonObject = { type: 'text', text: '' };

/** Free-form input of a custom tool is the only member of an object. */
const CUSTOM_INPUT = ['{"input":"', '"}'] as const;
