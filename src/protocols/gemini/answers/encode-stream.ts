// Encodes canonical events as chunks of `streamGenerateContent`: unnamed server-sent events without a terminator, or
// one JSON array. It runs once per token, so constant text is cached.
import type { JsonObject } from '../../../base/json/index.ts';
import type {
  AnnotateEvent,
  ArgumentsEvent,
  CloseEvent,
  EventSink,
  FinishEvent,
  GatewayError,
  HostedCallItem,
  HostedFacts,
  OpenEvent,
  ReasoningEvent,
  Source,
  TextEvent,
  Usage,
} from '../../../canonical/index.ts';
import { PARAGRAPH } from '../../content/paragraphs.ts';
import type { AnswerContext } from '../../protocol.ts';
import { StreamEncoder, TextOffsets } from '../../streams/stream-encoder.ts';
import { encodeErrorBody } from '../../google/encode-error.ts';
import { membersText, restOf } from '../../members/answer-rest.ts';
import { ANSWER_MEMBERS } from './answer-members.ts';
import { GroundingWriter } from './encode-grounding.ts';
import { encodeLogprobs } from './encode-logprobs.ts';
import { encodeUsage } from './encode-usage.ts';
import { encodeFinishReason } from './finish-reason.ts';
import { isHostedPart } from '../hosted-parts.ts';
import { PartWriter, type AnsweredCall } from './part-writer.ts';

interface MessageState {
  readonly type: 'message';
}
interface ThoughtState {
  readonly type: 'thought';
  /** Kind and number of the last part. Another part begins a new paragraph. */
  last: string;
}
interface CallState extends AnsweredCall {
  readonly type: 'call';
  arguments: string;
}
/** Images, and hosted work that is outside the parts. */
interface WorkState {
  readonly type: 'work';
  readonly item: HostedCallItem;
}
type ItemState = MessageState | ThoughtState | CallState | WorkState;

const CANDIDATE = '{"candidates":[{"content":{"parts":[';

/**
 * Starts a stream. Nothing is written before the first content, or after `finish` or `error`.
 * @param write takes complete frames
 */
export function encodeStream(write: (frames: string) => void, context: AnswerContext): EventSink {
  return new GeminiStreamEncoder(write, context);
}

class GeminiStreamEncoder extends StreamEncoder {
  readonly #asArray: boolean;
  readonly #logprobs: boolean;
  readonly #showThoughts: boolean;
  readonly #parts: PartWriter;
  readonly #grounding = new GroundingWriter();
  readonly #items: (ItemState | undefined)[] = [];
  /** Text before and after a chunk. An array's first chunk begins with its bracket. */
  #before: string;
  readonly #after: string;
  /** End of a chunk: model and id. Built with the first chunk, when the model is known. */
  #envelope = '';
  /** Text behind the only part of a chunk in the middle of the answer. */
  #tail = '';
  /** Last call, held back: the last part of an answer is sent together with its end. */
  #held = '';
  #text = '';
  readonly #offsets = new TextOffsets();
  #hasRefusal = false;
  /** Text of a refusal. Whether it becomes content is only known at the end. */
  #refusal = '';

  constructor(write: (frames: string) => void, context: AnswerContext) {
    super(write, context);
    const { request } = context;
    this.#asArray = context.streamAsArray === true;
    this.#before = this.#asArray ? '[' : 'data: ';
    this.#after = this.#asArray ? '' : '\n\n';
    this.#logprobs = request.logprobs === true;
    this.#showThoughts = request.reasoning.exclude !== true;
    this.#parts = new PartWriter((part) => this.#part(part), this.#showThoughts);
  }

  protected override onText({ index, part, kind, text, logprobs }: TextEvent): void {
    this.#offsets.at(index, part, this.#text.length);
    const hasLogprobs = this.#logprobs && logprobs !== undefined && logprobs.length > 0;
    if (text === '' && !hasLogprobs) return;
    if (kind === 'refusal') {
      this.#refusal += text;
      return;
    }
    this.#text += text;
    if (hasLogprobs) {
      const result = JSON.stringify(encodeLogprobs(logprobs));
      this.#chunk(JSON.stringify(this.#parts.textPart(text)), `,"logprobsResult":${result}`);
    } else this.#say(text);
  }

  #say(text: string): void {
    if (this.#parts.isSigning) this.#parts.text(text);
    else this.#chunk(`{"text":${JSON.stringify(text)}}`);
  }

  protected override onArguments({ index, text }: ArgumentsEvent): void {
    const item = this.#items[index];
    if (item?.type === 'call') item.arguments += text;
  }

  protected override onReasoning({ index, kind, part, text, opaque }: ReasoningEvent): void {
    const item = this.#items[index];
    if (item?.type !== 'thought') return;
    let shown = text;
    if (text !== '') {
      const place = `${kind}${part}`;
      if (item.last !== '' && item.last !== place) shown = PARAGRAPH + text;
      item.last = place;
    }
    this.#parts.thought(shown, opaque, item.last !== '');
  }

  protected override onOpen({ index, item }: OpenEvent): void {
    switch (item.type) {
      case 'message':
        this.#items[index] = { type: 'message' };
        return;
      case 'reasoning':
        this.#items[index] = { type: 'thought', last: '' };
        return;
      case 'tool_call':
        this.#items[index] = { ...item, type: 'call', arguments: '' };
        return;
      // Parts with hosted work are only complete when they close.
      case 'hosted_call':
        if (!isHostedPart(item.kind)) this.#items[index] = { type: 'work', item };
        return;
      case 'unknown':
      case 'compaction':
        return;
    }
  }

  protected override onClose({ index, source, facts }: CloseEvent): void {
    const item = this.#items[index];
    this.#items[index] = undefined;
    // Gemini's clients expect a call with all its arguments.
    if (item?.type === 'call') this.#parts.call({ ...item, source });
    else if (item?.type === 'work') this.#onWork(facts ?? item.item.facts, source ?? item.item.source);
    else if (item === undefined && source) this.#parts.raw(source);
  }

  #onWork(facts: HostedFacts | undefined, source: Source | undefined): void {
    if (facts?.type === 'image') this.#parts.picture(facts, source);
    else this.#grounding.addWork(facts);
  }

  protected override onAnnotate({ index, part, annotation }: AnnotateEvent): void {
    this.#grounding.add(annotation, this.#offsets.at(index, part, this.#text.length));
  }

  protected override onFinish(finish: FinishEvent): void {
    const { reason, raw } = finish;
    const isMessage = reason === 'refusal' && this.#refusal !== '';
    if (this.#refusal !== '' && !isMessage) {
      this.#hasRefusal = true;
      this.#text += this.#refusal;
      this.#say(this.#refusal);
    }
    for (const item of this.#items) if (item?.type === 'call') this.#parts.call(item);
    const last = this.#takeLast();
    const word = encodeFinishReason(reason, raw, this.#hasRefusal);
    const rest = restOf(finish, ANSWER_MEMBERS);
    const { finishReason = word, ...own } = rest.element;
    this.#grounding.addOwn(own);
    const members = membersText({
      finishReason,
      ...(isMessage ? { finishMessage: this.#refusal } : {}),
      ...own,
      ...this.#grounding.members(this.#text),
    });
    const usage = this.usage ? `,"usageMetadata":${JSON.stringify(this.#encodeUsage(this.usage))}` : '';
    this.#chunk(last, members, usage + membersText(rest.outer));
    this.#end();
  }

  /** Google's SDK throws on a frame whose `error` has a code. */
  protected override onError(error: GatewayError): void {
    this.#release();
    this.#frame(JSON.stringify(encodeErrorBody(error, this.context.id)));
    this.#end();
  }

  #end(): void {
    if (this.#asArray) this.write(']');
  }

  #encodeUsage(usage: Usage): JsonObject {
    return encodeUsage(usage, this.context.costUsd);
  }

  /**
   * Returns the last part. A call needs no empty text, which Google's Go library would return as a part without data.
   */
  #takeLast(): string {
    if (this.#parts.isSigning || this.#held === '') return JSON.stringify(this.#parts.last());
    const call = this.#held;
    this.#held = '';
    return call;
  }

  #part(part: JsonObject): void {
    const text = JSON.stringify(part);
    if (part['functionCall'] === undefined) return this.#chunk(text);
    this.#release();
    this.#held = text;
  }

  #release(): void {
    const call = this.#held;
    if (call === '') return;
    this.#held = '';
    this.#chunk(call);
  }

  /**
   * Writes a chunk with one part.
   * @param members of the candidate, with a leading comma
   * @param more of the chunk, with a leading comma
   */
  #chunk(part: string, members = '', more = ''): void {
    this.#release();
    if (this.#envelope === '') this.#begin();
    this.#frame(
      members === '' && more === ''
        ? CANDIDATE + part + this.#tail
        : `${CANDIDATE}${part}],"role":"model"}${members},"index":0}]${more}${this.#envelope}`,
    );
  }

  #frame(json: string): void {
    this.write(this.#before + json + this.#after);
    if (this.#asArray) this.#before = ',\n';
  }

  #begin(): void {
    const { model, id } = this.context;
    this.#envelope = `,"modelVersion":${JSON.stringify(model)},"responseId":${JSON.stringify(id)}}`;
    this.#tail = `],"role":"model"},"index":0}]${this.#envelope}`;
  }
}
