// The envelope around a message: id and model, usage, the end, and errors reported inside an answer. Holds what
// frames and whole bodies have in common; feeds the message decoder.
import type { CodecContext } from '../../protocol.ts';
import type { JsonObject, JsonValue } from '../../../base/json/index.ts';
import type { EventSink, GatewayError } from '../../../canonical/index.ts';
import { asObject, asString, isJsonArray, isJsonObject } from '../../../base/json/index.ts';
import { decodeUsage } from './decode-usage.ts';
import { decodeFinishReason, decodeStopSequence } from './finish-reason.ts';
import { MessageDecoder } from './message-decoder.ts';
import type { WireChoice, WireCompletion, WireMessage } from '../wire-types.ts';

/** Decodes one answer, chunk by chunk or at once. Exactly one of `finish` and `fail` ends it. */
export class AnswerDecoder {
  readonly #sink: EventSink;
  readonly #message: MessageDecoder;
  #started = false;
  /** The `index` of the choice that is decoded, once a choice has shown it. */
  #index: number | undefined;
  #usage: JsonValue = null;
  #word: string | undefined;
  #stopSequence: string | undefined;
  #cited = 0;
  readonly #early: JsonObject[] = [];

  constructor(sink: EventSink, context: CodecContext) {
    this.#sink = sink;
    this.#message = new MessageDecoder(sink, context);
  }

  /** True once anything of an answer has come. */
  get started(): boolean {
    return this.#started;
  }

  /** True until something was said, reasoned or called. */
  get isEmpty(): boolean {
    return this.#message.isEmpty;
  }

  /** The upstream's word for its end, once it has given one. */
  get finishWord(): string | undefined {
    return this.#word;
  }

  /**
   * Takes a chunk or a whole completion. A chunk with nothing in it that is known becomes an `unknown` event.
   * @param whole true for a completion
   */
  take(body: WireCompletion, whole: boolean): void {
    const choices = isJsonArray(body.choices) ? body.choices : undefined;
    const choice: WireChoice | undefined = choices && firstChoice(choices, this.#index);
    if (choice && this.#index === undefined && typeof choice.index === 'number') this.#index = choice.index;
    let known = choice !== undefined || (choices !== undefined && choices.length > 0);
    if (!this.#started && (choice || nonEmpty(body.id))) this.#start(body);
    if (choice) this.#choice(choice, whole);
    if (isJsonObject(body.usage)) {
      this.#usage = body.usage;
      known = true;
    } else if (isJsonObject(body.x_groq) && isJsonObject(body.x_groq['usage'])) {
      this.#usage = body.x_groq['usage'];
      known = true;
    }
    if (body.search_results || body.citations) {
      this.#cite(body);
      known = true;
    }
    if (known) return;
    // Azure reports on the prompt before the first chunk with an id.
    if (this.#started) this.#unknown(body);
    else this.#early.push(body);
  }

  /** True where one of these is the choice that is decoded. */
  reads(choices: readonly JsonValue[]): boolean {
    return firstChoice(choices, this.#index) !== undefined;
  }

  /** Takes a chunk that is like the one before, but for its text. */
  more(text: string): void {
    this.#message.take({ content: text }, false);
  }

  /** Emits the end of a complete answer. */
  finish(): void {
    if (!this.#started) this.#start({});
    this.#message.close();
    this.#flushUsage();
    const raw = this.#word;
    const stopSequence = this.#stopSequence;
    const said = raw === undefined ? 'unknown' : decodeFinishReason(raw);
    const reason = said === 'stop' && stopSequence !== undefined ? 'stop_sequence' : said;
    this.#sink.on({ type: 'finish', reason, raw, stopSequence });
  }

  /** Emits a failure. Items stay open; tokens that were reported still count. */
  fail(error: GatewayError): void {
    if (this.#started) this.#flushUsage();
    this.#sink.on({ type: 'error', error });
  }

  #start(body: WireCompletion): void {
    this.#started = true;
    this.#sink.on({
      type: 'start',
      id: nonEmpty(body.id),
      model: nonEmpty(body.model),
      created: seconds(body.created),
      systemFingerprint: nonEmpty(body.system_fingerprint),
      serviceTier: nonEmpty(body.service_tier),
    });
    for (const chunk of this.#early) this.#unknown(chunk);
  }

  #unknown(chunk: JsonObject): void {
    this.#sink.on({ type: 'unknown', source: { protocol: 'openai-chat', raw: chunk } });
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

  /** Perplexity repeats the whole list in every chunk: each page is cited once. */
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

  #flushUsage(): void {
    if (this.#usage !== null) this.#sink.on({ type: 'usage', usage: decodeUsage(this.#usage) });
  }
}

/**
 * The choice to decode: the gateway never asks for more than one, but a server may send more, or count its only one
 * from a number of its own (the position of a content block, for example).
 * @param index that of the choice in earlier chunks; undefined before the first
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

/** Unix seconds; some servers write them as text, or 0 for none. */
function seconds(value: JsonValue | undefined): number | undefined {
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number > 0 ? Math.floor(number) : undefined;
}
