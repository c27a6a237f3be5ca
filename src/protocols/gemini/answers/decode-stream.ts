// Decodes the server-sent events of `streamGenerateContent?alt=sse`, and detects the end of the stream.
// `answer-emitter.ts` interprets the candidates.
import type { EventSink } from '../../../canonical/index.ts';
import { isJsonObject, parseJson } from '../../../base/json/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import { cutAnswer, unreadableFrame } from '../../errors/broken-answer.ts';
import type { CodecContext, StreamDecoder } from '../../protocol.ts';
import { AnswerEmitter } from './answer-emitter.ts';
import { decodeInlineError } from '../../google/decode-error.ts';

/** Creates a decoder for one stream. After `finish` or `error` it ignores further frames. */
export function decodeStream(sink: EventSink, context: CodecContext): StreamDecoder {
  return new GeminiStreamDecoder(sink, context);
}

class GeminiStreamDecoder implements StreamDecoder {
  readonly #sink: EventSink;
  readonly #emitter: AnswerEmitter;
  #done = false;

  constructor(sink: EventSink, context: CodecContext) {
    this.#sink = sink;
    this.#emitter = new AnswerEmitter(sink, context);
  }

  frame(_event: string, data: string): void {
    if (this.#done) return;
    const frame = parseJson(data);
    if (!isJsonObject(frame)) {
      // Compatible servers end with OpenAI's terminator.
      if (data !== '[DONE]') this.#fail(unreadableFrame(data));
      return;
    }
    const failure = decodeInlineError(frame);
    if (failure) {
      this.#fail(failure);
      return;
    }
    try {
      this.#emitter.take(frame);
    } catch (error) {
      if (!GatewayError.is(error)) throw error;
      this.#fail(error);
    }
  }

  /**
   * Ends the answer with the connection. There is no terminator, and a finish reason does not end it: older models send
   * `STOP` in every frame, and counts may follow the reason.
   */
  end(): void {
    if (this.#done) return;
    if (!this.#emitter.stopped) {
      this.#fail(cutAnswer());
      return;
    }
    this.#done = true;
    this.#emitter.finish();
  }

  interrupt(): void {
    if (!this.#done) this.#emitter.flushUsage();
  }

  #fail(error: GatewayError): void {
    this.#done = true;
    this.#emitter.flushUsage();
    this.#sink.on({ type: 'error', error });
  }
}
