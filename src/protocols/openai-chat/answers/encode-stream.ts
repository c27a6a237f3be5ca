// Encodes canonical events as `chat.completion.chunk` frames, with consecutive tool-call indices. It runs once per
// token, so the constant text of frames is cached and only the new text is escaped.
import type {
  AnnotateEvent,
  ArgumentsEvent,
  CloseEvent,
  EventSink,
  FinishEvent,
  GatewayError,
  OpenEvent,
  OpenItem,
  ReasoningEvent,
  TextEvent,
} from '../../../canonical/index.ts';
import { PARAGRAPH } from '../../content/paragraphs.ts';
import type { AnswerContext } from '../../protocol.ts';
import { ArgumentsProgress } from '../../calls/arguments-progress.ts';
import { StreamEncoder, TextOffsets } from '../../streams/stream-encoder.ts';
import { encodeAnnotation } from './encode-annotation.ts';
import { membersText, NO_REST, type RestOfAnswer } from '../../members/answer-rest.ts';
import { answerRestOf, extraMembers, putUpstreamFacts } from './encode-envelope.ts';
import { encodeErrorBody } from '../../openai/encode-error.ts';
import { encodeFinishReason } from './finish-reason.ts';
import { encodeOpaqueFragment, unknownDetail, UNKNOWN_FORMAT } from './encode-reasoning-details.ts';
import { encodeUsage } from './encode-usage.ts';
import { encodeWork } from './work-members.ts';

interface MessageState {
  readonly type: 'message';
}
interface ReasoningState {
  readonly type: 'reasoning';
  readonly format: string | undefined;
  readonly id: string | undefined;
  /** Position in the turn; undefined until the item has content. */
  position: number | undefined;
  /** Number of the last part with text, by kind; undefined before the first. */
  textPart: number | undefined;
  summaryPart: number | undefined;
  /** Cached end of a detail fragment. */
  tail: string;
}
interface CallState {
  readonly type: 'call';
  /** Index among the calls of the turn. */
  readonly number: number;
  /** Text before and after an escaped fragment of its arguments. */
  readonly head: string;
  readonly tail: string;
  /** Undefined for free-form input, whose end cannot be seen. */
  readonly progress: ArgumentsProgress | undefined;
  /** Members of its chunks, while an earlier call is incomplete; undefined once they are written. */
  waiting: string[] | undefined;
  isClosed: boolean;
}
/** Hosted work, which is written when it is complete. */
interface WorkState {
  readonly type: 'work';
  readonly kind: string;
}
type ItemState = MessageState | ReasoningState | CallState | WorkState;

/**
 * Starts a stream. Nothing is written before the first content, or after `finish` or `error`.
 * @param write takes complete frames
 */
export function encodeStream(write: (frames: string) => void, context: AnswerContext): EventSink {
  return new ChatStreamEncoder(write, context);
}

class ChatStreamEncoder extends StreamEncoder {
  readonly #includeUsage: boolean;
  readonly #logprobs: boolean;
  readonly #exclude: boolean;
  readonly #items: (ItemState | undefined)[] = [];
  /** Cached parts of a frame: up to its choices, up to the members of the delta, and after them. */
  #envelope = '';
  #head = '';
  readonly #tail: string;
  /** Written with the first delta, then empty. */
  #role = '"role":"assistant",';
  readonly #offsets = new TextOffsets();
  #contentLength = 0;
  #hasText = false;
  #hasRefusal = false;
  /** Reasoning item that was written last. The next item begins a new paragraph. */
  #lastReasoning: ReasoningState | undefined;
  #position = 0;
  #toolCalls = 0;
  /** Call whose arguments are being written. */
  #call: CallState | undefined;
  /** Later calls in their order. They wait for its end, because OpenAI's SDKs parse a call when the next one begins. */
  readonly #laterCalls: CallState[] = [];

  constructor(write: (frames: string) => void, context: AnswerContext) {
    super(write, context);
    const { request } = context;
    this.#includeUsage = request.streamUsage === true || request.gateway.includeUsage === true;
    this.#logprobs = request.logprobs === true;
    this.#exclude = request.reasoning.exclude === true;
    this.#tail = this.#encodeTail('null');
  }

  protected override onArguments({ index, text }: ArgumentsEvent): void {
    const item = this.#items[index];
    if (item?.type !== 'call' || text === '') return;
    item.progress?.take(text);
    this.#callDelta(item, item.head + JSON.stringify(text) + item.tail);
    if (this.#laterCalls.length > 0) this.#writeLaterCalls();
  }

  protected override onClose(event: CloseEvent): void {
    const item = this.#items[event.index];
    if (!item || item.type === 'reasoning') return;
    const members =
      item.type === 'work' ? encodeWork(item.kind, event.source, event.facts) : extraMembers(event.source);
    const text = members && JSON.stringify(members).slice(1, -1);
    if (item.type !== 'call') {
      if (text) this.#delta(text);
      return;
    }
    if (text) this.#callDelta(item, `"tool_calls":[{"index":${item.number},${text}}]`);
    item.isClosed = true;
    this.#writeLaterCalls();
  }

  protected override onText(event: TextEvent): void {
    const logprobs =
      this.#logprobs && event.logprobs && event.logprobs.length > 0 ? event.logprobs : undefined;
    const isRefusal = event.kind === 'refusal';
    if (!isRefusal) this.#offsets.at(event.index, event.part, this.#contentLength);
    if (event.text === '' && !logprobs) return;
    if (event.text !== '') {
      if (!this.#hasText && !this.#hasRefusal) this.#position++;
      if (isRefusal) {
        this.#hasRefusal = true;
      } else {
        this.#hasText = true;
        this.#contentLength += event.text.length;
      }
    }
    const member = (isRefusal ? '"refusal":' : '"content":') + JSON.stringify(event.text);
    if (!logprobs) {
      this.#delta(member);
      return;
    }
    const list = JSON.stringify(logprobs);
    const pair = isRefusal ? `{"content":null,"refusal":${list}}` : `{"content":${list},"refusal":null}`;
    this.#delta(member, this.#encodeTail(pair));
  }

  protected override onReasoning(event: ReasoningEvent): void {
    if (this.#exclude) return;
    const item = this.#items[event.index];
    if (item?.type !== 'reasoning') return;
    if (event.text !== '') this.#onReasoningText(item, event);
    if (event.opaque) {
      const position = this.#place(item);
      const detail = encodeOpaqueFragment(event.opaque, position, item.format, item.id);
      this.#delta(`"reasoning_details":[${JSON.stringify(detail)}]`);
    }
  }

  #onReasoningText(item: ReasoningState, event: ReasoningEvent): void {
    this.#place(item);
    const isSummary = event.kind === 'summary';
    const lastPart = isSummary ? item.summaryPart : item.textPart;
    if (isSummary) item.summaryPart = event.part;
    else item.textPart = event.part;

    // A later part begins a paragraph in its own detail. Another item begins one only in the common text.
    const isLaterPart = lastPart !== undefined && lastPart !== event.part;
    const before = this.#lastReasoning;
    const isApart = !isLaterPart && before !== undefined && (before !== item || lastPart === undefined);
    this.#lastReasoning = item;

    const escaped = JSON.stringify(isLaterPart ? PARAGRAPH + event.text : event.text);
    const visible = isApart ? JSON.stringify(PARAGRAPH + event.text) : escaped;
    const type = isSummary ? 'reasoning.summary","summary":' : 'reasoning.text","text":';
    const mirror = this.context.reasoningContentMirror ? `,"reasoning_content":${visible}` : '';
    this.#delta(
      `"reasoning":${visible}${mirror},"reasoning_details":[{"type":"${type}${escaped}${item.tail}]`,
    );
  }

  protected override onOpen(event: OpenEvent): void {
    const { item } = event;
    switch (item.type) {
      case 'message':
        this.#items[event.index] = { type: 'message' };
        return;
      case 'reasoning':
        this.#items[event.index] = {
          type: 'reasoning',
          format: item.format,
          id: item.id,
          position: undefined,
          textPart: undefined,
          summaryPart: undefined,
          tail: '',
        };
        return;
      case 'tool_call':
        this.#openCall(event.index, item);
        return;
      case 'unknown': {
        const detail = this.#exclude ? undefined : unknownDetail(item);
        if (detail) this.#delta(`"reasoning_details":[${JSON.stringify(detail)}]`);
        return;
      }
      case 'hosted_call':
        this.#items[event.index] = { type: 'work', kind: item.kind };
        return;
      case 'compaction':
        return;
    }
  }

  #openCall(index: number, item: Extract<OpenItem, { type: 'tool_call' }>): void {
    const number = this.#toolCalls++;
    this.#position++;
    const isCustom = item.kind === 'custom';
    const head = `"tool_calls":[{"index":${number},`;
    const body = isCustom ? '"custom":{"input":' : '"function":{"arguments":';
    const id = JSON.stringify(item.callId);
    const name = JSON.stringify(item.name);
    const first = isCustom
      ? `"type":"custom","custom":{"name":${name},"input":""}`
      : `"type":"function","function":{"name":${name},"arguments":""}`;
    const call: CallState = {
      type: 'call',
      number,
      head: head + body,
      tail: '}}]',
      progress: isCustom ? undefined : new ArgumentsProgress(),
      waiting: [`${head}"id":${id},${first}}]`],
      isClosed: false,
    };
    this.#items[index] = call;
    this.#laterCalls.push(call);
    this.#writeLaterCalls();
  }

  #callDelta(call: CallState, members: string): void {
    if (call.waiting) call.waiting.push(members);
    else this.#delta(members);
  }

  /** Writes the calls that waited, up to the next incomplete one. @param isEnd true: writes all of them */
  #writeLaterCalls(isEnd = false): void {
    while (isEnd || !isIncomplete(this.#call)) {
      const call = this.#laterCalls.shift();
      if (!call) return;
      this.#call = call;
      const { waiting = [] } = call;
      call.waiting = undefined;
      for (const members of waiting) this.#delta(members);
    }
  }

  protected override onAnnotate(event: AnnotateEvent): void {
    const encoded = encodeAnnotation(
      event.annotation,
      this.#offsets.at(event.index, event.part, this.#contentLength),
    );
    if (encoded) this.#delta(`"annotations":[${JSON.stringify(encoded)}]`);
  }

  protected override onFinish(event: FinishEvent): void {
    this.#writeLaterCalls(true);
    // Only the last chunks have a service tier that was not known before.
    if (event.serviceTier !== undefined) this.#begin();
    if (this.#role !== '') this.#delta('"content":""');
    const reason = encodeFinishReason(event.reason, {
      toolCalls: this.#toolCalls,
      refusal: this.#hasRefusal,
    });
    const { unsaid, ...rest } = answerRestOf(event);
    if (unsaid) this.#delta(JSON.stringify(unsaid).slice(1, -1));
    let frames = this.#head + this.#encodeTail('null', `"${reason}"`, rest);
    if (this.#includeUsage && this.usage) {
      const usage = JSON.stringify(encodeUsage(this.usage, this.context.costUsd));
      frames += `${this.#envelope}"choices":[],"usage":${usage}}\n\n`;
    }
    this.write(`${frames}data: [DONE]\n\n`);
  }

  /** OpenAI's SDKs throw on any frame with `error`. No `[DONE]` follows, so it cannot be taken for a normal end. */
  protected override onError(error: GatewayError): void {
    this.write(`data: ${JSON.stringify(encodeErrorBody(error))}\n\n`);
  }

  /** Writes one chunk with these members in its delta. */
  #delta(members: string, tail = this.#tail): void {
    if (this.#role === '') {
      this.write(this.#head + members + tail);
      return;
    }
    this.#begin();
    const role = this.#role;
    this.#role = '';
    this.write(this.#head + role + members + tail);
  }

  /** Returns the end of a chunk. It omits OpenAI's `usage: null`, which clients ignore and OpenRouter's SDK rejects. */
  #encodeTail(logprobs: string, finishReason = 'null', { element, outer }: RestOfAnswer = NO_REST): string {
    const choice = `},"logprobs":${logprobs},"finish_reason":${finishReason}${membersText(element)}}]`;
    return `${choice}${membersText(outer)}}\n\n`;
  }

  /** Builds the constant text at the first chunk, when the upstream's data are known. */
  #begin(): void {
    const { id, createdSeconds, model } = this.context;
    const members = { id, object: 'chat.completion.chunk', created: createdSeconds, model };
    putUpstreamFacts(members, this.start);
    this.#envelope = `data: ${JSON.stringify(members).slice(0, -1)},`;
    this.#head = `${this.#envelope}"choices":[{"index":0,"delta":{`;
  }

  /** Assigns a position to a reasoning item when it first has content. */
  #place(item: ReasoningState): number {
    if (item.position !== undefined) return item.position;
    item.position = this.#position++;
    const format = JSON.stringify(item.format ?? UNKNOWN_FORMAT);
    const id = item.id === undefined ? '' : `,"id":${JSON.stringify(item.id)}`;
    item.tail = `,"format":${format},"index":${item.position}${id}}`;
    return item.position;
  }
}

/** True if more arguments may follow. A call that was closed holds up no other, whatever its arguments are. */
function isIncomplete(call: CallState | undefined): boolean {
  return call?.progress !== undefined && !call.isClosed && !call.progress.isComplete;
}
