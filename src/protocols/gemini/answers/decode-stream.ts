// Reads the server-sent events of `streamGenerateContent?alt=sse`. Owns the end of the stream; what the candidates mean
// is in answer-emitter.ts.
import type { EventSink } from '../../../canonical/index.ts';
import { isJsonObject, parseJson } from '../../../base/json/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import { cutAnswer, unreadableFrame } from '../../broken-answer.ts';
import type { CodecContext, StreamDecoder } from '../../protocol.ts';
import { AnswerEmitter } from './answer-emitter.ts';
import { decodeInlineError } from '../../google/decode-error.ts';

/** A decoder for one stream. After `finish` or `error` it ignores whatever follows. */
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
   * There is no terminator: the last frame says why the model stopped. Nothing ends the answer before the connection
   * does, because older models say `STOP` in every frame, and counts may follow the reason.
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

  #fail(error: GatewayError): void {
    this.#done = true;
    this.#emitter.flushUsage();
    this.#sink.on({ type: 'error', error });
  }
}
