// Decodes what chunks and whole completions have in common: id and model, usage, finish reason and inline errors. The
// message decoder handles the messages.
import type { CodecContext } from '../../protocol.ts';
import type { JsonObject, JsonValue } from '../../../base/json/index.ts';
import type { EventSink, GatewayError } from '../../../canonical/index.ts';
import { asObject, asString, isJsonArray, isJsonObject } from '../../../base/json/index.ts';
import { AnswerRest } from '../../members/answer-rest.ts';
import { ANSWER_MEMBERS } from './answer-members.ts';
import { decodeUsage } from './decode-usage.ts';
import { decodeFinishReason, decodeStopSequence } from './finish-reason.ts';
import { MessageDecoder } from './message-decoder.ts';
import type { WireChoice, WireCompletion, WireMessage } from '../wire-types.ts';

/** Decodes one answer, in chunks or as a whole. Exactly one of `finish` and `fail` ends it. */
export class AnswerDecoder {
  readonly #sink: EventSink;
  readonly #message: MessageDecoder;
  #started = false;
  /** The `index` of the decoded choice; undefined until a choice was seen. */
  #index: number | undefined;
  #usage: JsonValue = null;
  #word: string | undefined;
  #stopSequence: string | undefined;
  #cited = 0;
  #startTier: string | undefined;
  #tier: string | undefined;
  readonly #rest = new AnswerRest(ANSWER_MEMBERS);

  constructor(sink: EventSink, context: CodecContext) {
    this.#sink = sink;
    this.#message = new MessageDecoder(sink, context);
  }

  /** True once any part of an answer was received. */
  get started(): boolean {
    return this.#started;
  }

  /** True until there is text, reasoning or a call. */
  get isEmpty(): boolean {
    return this.#message.isEmpty;
  }

  /** The upstream's finish reason, once received. */
  get finishWord(): string | undefined {
    return this.#word;
  }

  /**
   * Takes a chunk or a whole completion. Azure's prompt filter results come in a chunk before the first choice, and
   * OpenAI's moderation results in one after the last.
   * @param whole true for a completion
   */
  take(body: WireCompletion, whole: boolean): void {
    const choices = isJsonArray(body.choices) ? body.choices : undefined;
    const choice: WireChoice | undefined = choices && firstChoice(choices, this.#index);
    if (choice && this.#index === undefined && typeof choice.index === 'number') this.#index = choice.index;
    if (!this.#started && (choice || nonEmpty(body.id))) this.#start(body);
    if (choice) this.#choice(choice, whole);
    this.#tier = nonEmpty(body.service_tier) ?? this.#tier;
    if (isJsonObject(body.usage)) this.#usage = body.usage;
    else if (isJsonObject(body.x_groq) && isJsonObject(body.x_groq['usage']))
      this.#usage = body.x_groq['usage'];
    if (body.search_results || body.citations) this.#cite(body);
    this.#rest.take(body as JsonObject, choice as JsonObject | undefined);
  }

  /** True if one of these choices is the decoded one. */
  reads(choices: readonly JsonValue[]): boolean {
    return firstChoice(choices, this.#index) !== undefined;
  }

  /** Takes a chunk that differs from the previous one only in its text. */
  more(text: string): void {
    this.#message.take({ content: text }, false);
  }

  /** Emits the end of a complete answer. */
  finish(): void {
    if (!this.#started) this.#start({});
    const unsaid = this.#message.close();
    if (unsaid) this.#rest.keep({}, { message: unsaid });
    this.flushUsage();
    const raw = this.#word;
    const stopSequence = this.#stopSequence;
    const said = raw === undefined ? 'unknown' : decodeFinishReason(raw);
    const reason = said === 'stop' && stopSequence !== undefined ? 'stop_sequence' : said;
    const serviceTier = this.#tier === this.#startTier ? undefined : this.#tier;
    const { source } = this.#rest;
    const unreported = unsaid && Object.keys(unsaid);
    this.#sink.on({ type: 'finish', reason, raw, stopSequence, source, unreported, serviceTier });
  }

  /** Emits a failure. Items stay open, and reported tokens still count. */
  fail(error: GatewayError): void {
    this.flushUsage();
    this.#sink.on({ type: 'error', error });
  }

  #start(body: WireCompletion): void {
    this.#started = true;
    this.#startTier = nonEmpty(body.service_tier);
    this.#sink.on({
      type: 'start',
      id: nonEmpty(body.id),
      model: nonEmpty(body.model),
      created: seconds(body.created),
      systemFingerprint: nonEmpty(body.system_fingerprint),
      serviceTier: this.#startTier,
    });
  }

  #choice(choice: WireChoice, whole: boolean): void {
    const message = isJsonObject(choice.delta) && !whole ? choice.delta : (choice.message ?? choice.delta);
    if (isJsonObject(message)) this.#message.take(message as WireMessage, whole, choice.logprobs);
    if (isJsonObject(choice.usage)) this.#usage = choice.usage;
    const word = nonEmpty(choice.finish_reason) ?? nonEmpty(asObject(choice.finish_details)['type']);
    if (word === undefined) return;
    this.#word = word;
    this.#stopSequence = decodeStopSequence(choice.stop_reason);
  }

  /** Perplexity repeats the whole list in every chunk. Each page is cited once. */
  #cite(body: WireCompletion): void {
    const results = isJsonArray(body.search_results) ? body.search_results : [];
    const pages = results.length > 0 ? results : isJsonArray(body.citations) ? body.citations : [];
    for (; this.#cited < pages.length; this.#cited++) {
      const page = pages[this.#cited];
      const raw: JsonObject = isJsonObject(page) ? page : { url: page };
      const url = asString(raw['url']);
      if (url !== undefined) this.#message.citation(url, asString(raw['title']) ?? '', raw);
    }
  }

  /** Emits the token counts of an answer that has begun, if there are any. */
  flushUsage(): void {
    if (this.#started && this.#usage !== null)
      this.#sink.on({ type: 'usage', usage: decodeUsage(this.#usage) });
  }
}

/**
 * Returns the choice to decode. The gateway only requests one, but servers may send more, or start their
 * index at another number, such as the position of a content block.
 * @param index of the choice in earlier chunks; undefined before the first
 */
export function firstChoice(choices: readonly JsonValue[], index?: number): WireChoice | undefined {
  let first: WireChoice | undefined;
  for (const choice of choices) {
    if (!isJsonObject(choice)) continue;
    if (typeof choice['index'] !== 'number' || choice['index'] === (index ?? 0)) return choice as WireChoice;
    first ??= choice as WireChoice;
  }
  return index === undefined ? first : undefined;
}

function nonEmpty(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Unix seconds. Some servers send a string, or 0 for none. */
function seconds(value: JsonValue | undefined): number | undefined {
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number > 0 ? Math.floor(number) : undefined;
}
