// Decodes the messages or deltas of one choice into canonical events, for streamed and whole answers alike.
import { citationUri } from '../../content/citation-address.ts';
import { ItemWriter } from '../../streams/item-writer.ts';
import type { CodecContext } from '../../protocol.ts';
import type { JsonObject, JsonValue, MutableJsonObject } from '../../../base/json/index.ts';
import type { Annotation, EventSink, HostedFacts, Source } from '../../../canonical/index.ts';
import { asNumber, asObject, asString, isJsonArray, isJsonObject } from '../../../base/json/index.ts';
import { ANSWER_SHAPE } from '../member-shapes.ts';
import { ReasoningDecoder } from './reasoning-decoder.ts';
import { ToolCallDecoder } from './tool-call-decoder.ts';
import { readImage, type WorkKind } from './work-members.ts';
import type { WireMessage } from '../wire-types.ts';

/** Decodes the items of one answer. The message item opens with its first text and stays open until the end. */
export class MessageDecoder {
  readonly #out: ItemWriter;
  readonly #reasoning: ReasoningDecoder;
  readonly #calls: ToolCallDecoder;
  #message = -1;
  #part = -1;
  #partKind: 'text' | 'refusal' = 'text';
  /** Last part that is text, which annotations belong to. */
  #textPart = 0;
  #extra: MutableJsonObject | undefined;
  /** Audio received so far. */
  #audio: JsonObject | undefined;

  constructor(sink: EventSink, context: CodecContext) {
    this.#out = new ItemWriter(sink);
    this.#reasoning = new ReasoningDecoder(this.#out);
    this.#calls = new ToolCallDecoder(this.#out, context);
  }

  /** True until the first item of the answer. */
  get isEmpty(): boolean {
    return this.#out.isEmpty;
  }

  /**
   * Takes a delta or a whole message.
   * @param whole true for a message: then each element of `tool_calls` is a separate call
   * @param logprobs the choice's `logprobs` for this delta
   */
  take(message: WireMessage, whole: boolean, logprobs?: JsonValue | undefined): void {
    this.#takeReasoning(message);
    const content = message.content;
    if (typeof content === 'string') this.#text('text', content, logprobs);
    else if (isJsonArray(content)) for (const part of content) this.#contentPart(part);
    if (typeof message.refusal === 'string') this.#text('refusal', message.refusal, logprobs);
    if (isJsonArray(message.annotations))
      for (const annotation of message.annotations) this.#annotation(annotation);
    const calls = message.tool_calls;
    if (isJsonArray(calls) && calls.length > 0) {
      this.#reasoning.close();
      for (const call of calls) if (isJsonObject(call)) this.#calls.element(call, whole);
    }
    if (isJsonObject(message.function_call)) {
      this.#reasoning.close();
      this.#calls.legacy(message.function_call);
    }
    if (isJsonArray(message.images)) for (const image of message.images) this.#image(image);
    if (isJsonObject(message.audio) && !isBlank(message.audio))
      this.#audio = this.#audio ? joined(this.#audio, message.audio) : message.audio;
    for (const key in message) if (!ANSWER_SHAPE.known.has(key)) this.#keep(key, message[key]);
  }

  /** Adds a page of Perplexity's list: a citation without a position in the text. */
  citation(url: string, title: string, raw: JsonObject): void {
    this.#annotate({
      type: 'url_citation',
      url: citationUri(url),
      title,
      start: 0,
      end: 0,
      source: source(raw),
    });
  }

  /**
   * Completes every open item.
   * @returns undocumented members of a message that has neither text nor citations, so that no item has them
   */
  close(): JsonObject | undefined {
    this.#reasoning.close();
    const extra = this.#extra;
    if (this.#audio) this.#work('audio', this.#audio, undefined);
    // Google's signature requires a message that carries it, even one without text.
    if (extra?.['extra_content'] !== undefined && this.#message < 0) this.#openMessage();
    if (this.#message >= 0) {
      this.#calls.flush();
      this.#out.close(
        this.#message,
        extra && source({ role: 'assistant', ...extra }),
        undefined,
        extra && Object.keys(extra),
      );
    }
    this.#calls.close();
    return this.#message < 0 ? extra : undefined;
  }

  #takeReasoning(message: WireMessage): void {
    const details = isJsonArray(message.reasoning_details) ? message.reasoning_details : undefined;
    // `reasoning` repeats the details, and each of the two plain members repeats the other.
    if (!details || !details.some(showsText)) {
      const plain = nonEmpty(message.reasoning_content) ?? nonEmpty(message.reasoning);
      if (plain !== undefined) {
        this.#calls.flush();
        this.#reasoning.text(plain);
      }
    }
    if (details && details.length > 0) {
      this.#calls.flush();
      this.#reasoning.details(details);
    }
    const signature = nonEmpty(message.thought_signature);
    if (signature !== undefined) this.#reasoning.signature(signature, 'google-gemini-v1');
  }

  #text(kind: 'text' | 'refusal', text: string, logprobs: JsonValue | undefined): void {
    const member = kind === 'text' ? 'content' : 'refusal';
    const tokens = logprobs === undefined || logprobs === null ? undefined : asObject(logprobs)[member];
    const list = isJsonArray(tokens) && tokens.length > 0 ? tokens : undefined;
    if (text === '' && list === undefined) return;
    if (this.#message < 0) this.#openMessage();
    else {
      this.#reasoning.close();
      this.#calls.flush();
    }
    if (this.#part < 0 || this.#partKind !== kind) {
      this.#part++;
      this.#partKind = kind;
    }
    if (kind === 'text') this.#textPart = this.#part;
    this.#out.text(this.#message, this.#part, text, kind, list);
  }

  /** Mistral sends content as parts: `thinking`, `text`, `reference` (docs.mistral.ai, "Reasoning", 2026-08). */
  #contentPart(part: JsonValue): void {
    if (typeof part === 'string') return this.#text('text', part, undefined);
    if (!isJsonObject(part)) return;
    switch (part['type']) {
      case 'text':
      case 'output_text':
        return this.#text('text', asString(part['text']) ?? '', undefined);
      case 'refusal':
        return this.#text('refusal', asString(part['refusal']) ?? '', undefined);
      case 'thinking': {
        const thinking = part['thinking'];
        if (typeof thinking === 'string') this.#think(thinking);
        else if (isJsonArray(thinking))
          for (const piece of thinking) this.#think(asString(asObject(piece)['text']) ?? '');
        return;
      }
      default:
        this.#annotate({ type: 'other', source: source(part) });
    }
  }

  #think(text: string): void {
    if (text === '') return;
    this.#calls.flush();
    this.#reasoning.text(text);
  }

  /** OpenAI nests a citation in `url_citation`. Some servers send its members flat. */
  #annotation(raw: JsonValue): void {
    if (!isJsonObject(raw)) return;
    const citation = isJsonObject(raw['url_citation']) ? raw['url_citation'] : raw;
    const url = asString(citation['url']);
    if (raw['type'] !== 'url_citation' || url === undefined)
      return this.#annotate({ type: 'other', source: source(raw) });
    this.#annotate({
      type: 'url_citation',
      url: citationUri(url),
      title: asString(citation['title']) ?? '',
      start: asNumber(citation['start_index']) ?? 0,
      end: asNumber(citation['end_index']) ?? 0,
      source: source(raw),
    });
  }

  #annotate(annotation: Annotation): void {
    if (this.#message < 0) this.#openMessage();
    this.#out.annotate(this.#message, this.#textPart, annotation);
  }

  /** Takes an image that the model created (OpenRouter, "Image generation", 2026-11). */
  #image(raw: JsonValue): void {
    if (isJsonObject(raw)) this.#work('image', raw, readImage(raw));
  }

  /** Writes hosted work that arrives complete. */
  #work(kind: WorkKind, raw: JsonObject, facts: HostedFacts | undefined): void {
    this.#reasoning.close();
    this.#calls.flush();
    this.#out.whole({ type: 'hosted_call', kind, facts, source: source(raw) }, source(raw), facts);
  }

  #openMessage(): void {
    this.#reasoning.close();
    this.#calls.flush();
    this.#message = this.#out.open({ type: 'message' });
  }

  /** Merges unknown members of the deltas: lists are appended, objects merged, other values replaced. */
  #keep(key: string, value: JsonValue | undefined): void {
    if (value === undefined || value === null || value === '') return;
    if (typeof value === 'object' && isBlank(value)) return;
    const extra = (this.#extra ??= {});
    const before = extra[key];
    if (isJsonArray(before) && isJsonArray(value)) extra[key] = [...before, ...value];
    else if (isJsonObject(before) && isJsonObject(value)) extra[key] = joined(before, value);
    else extra[key] = value;
  }
}

function showsText(detail: JsonValue): boolean {
  return (
    isJsonObject(detail) &&
    (nonEmpty(detail['text']) !== undefined || nonEmpty(detail['summary']) !== undefined)
  );
}

function nonEmpty(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function source(raw: JsonObject): Source {
  return { protocol: 'openai-chat', raw };
}

/** True for an empty list or object, or an object with only empty members (Snowflake's `audio`). */
function isBlank(value: readonly JsonValue[] | JsonObject): boolean {
  if (isJsonArray(value)) return value.length === 0;
  for (const key in value) {
    const member = value[key];
    if (member !== undefined && member !== null && member !== '' && member !== 0) return false;
  }
  return true;
}

function joined(before: JsonObject, after: JsonObject): JsonObject {
  const result: MutableJsonObject = { ...before };
  for (const key in after) {
    const old = result[key];
    const value = after[key];
    const grows =
      (key === 'data' || key === 'transcript') && typeof old === 'string' && typeof value === 'string';
    result[key] = grows ? old + value : value;
  }
  return result;
}
