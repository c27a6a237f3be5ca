// Reads the frames of a Chat Completions stream and decides when it is complete, cut or broken. What the chunks
// mean is the answer decoder's business.
import type { CodecContext, StreamDecoder } from '../protocol.ts';
import type { EventSink, GatewayError } from '../../canonical/index.ts';
import { isJsonObject, parseJson } from '../../canonical/index.ts';
import { brokenAnswer, cutAnswer, unreadableFrame } from '../broken-answer.ts';
import { AnswerDecoder } from './answer-emitter.ts';
import { decodeInlineError } from './decode-error.ts';
import { failureReason } from './decode-response.ts';
import type { WireCompletion } from './wire-types.ts';

/** A decoder for one stream. It ends the answer at `[DONE]`, or at the end of the stream when a reason was given. */
export function decodeStream(sink: EventSink, context: CodecContext): StreamDecoder {
  return new ChatStreamDecoder(sink, context);
}

class ChatStreamDecoder implements StreamDecoder {
  readonly #answer: AnswerDecoder;
  #ended = false;

  constructor(sink: EventSink, context: CodecContext) {
    this.#answer = new AnswerDecoder(sink, context);
  }

  frame(event: string, data: string): void {
    if (this.#ended || data === '') return;
    if (data === '[DONE]' || (data.length < 12 && data.trim() === '[DONE]')) return this.#finish();
    const chunk = parseJson(data);
    if (!isJsonObject(chunk)) return this.#fail(unreadableFrame(data));
    const error = decodeInlineError(chunk, event);
    if (error) return this.#fail(error);
    this.#answer.take(chunk as WireCompletion, false);
  }

  end(): void {
    if (this.#ended) return;
    if (this.#answer.finishWord !== undefined) return this.#finish();
    this.#fail(cutAnswer());
  }

  #finish(): void {
    // The end mark alone makes no answer: nothing was said, and nobody says that this was meant.
    if (this.#answer.finishWord === undefined && this.#answer.isEmpty)
      return this.#fail(brokenAnswer('the upstream ended the stream without an answer'));
    const failure = failureReason(this.#answer.finishWord);
    if (failure) return this.#fail(failure);
    this.#ended = true;
    this.#answer.finish();
  }

  #fail(error: GatewayError): void {
    this.#ended = true;
    this.#answer.fail(error);
  }
}
