// Decodes the events of ConverseStream, and detects the end of the stream. `answer-emitter.ts` interprets the blocks.
// The framing layer handles exceptions inside the stream, so they do not arrive here.
import type { JsonObject } from '../../../base/json/index.ts';
import type { EventSink } from '../../../canonical/index.ts';
import { asNumber, asObject, asString, isJsonObject, parseJson } from '../../../base/json/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import { unreadableFrame } from '../../errors/broken-answer.ts';
import type { CodecContext, StreamDecoder } from '../../protocol.ts';
import { AnswerEmitter } from './answer-emitter.ts';
import { malformedAnswer } from './finish-reason.ts';

/** Creates a decoder for one stream. After `finish` or `error` it ignores further events. */
export function decodeStream(sink: EventSink, context: CodecContext): StreamDecoder {
  return new ConverseStreamDecoder(sink, context);
}

class ConverseStreamDecoder implements StreamDecoder {
  readonly #sink: EventSink;
  readonly #emitter: AnswerEmitter;
  #started = false;
  #done = false;

  constructor(sink: EventSink, context: CodecContext) {
    this.#sink = sink;
    this.#emitter = new AnswerEmitter(sink, context);
  }

  /** @param event type of the event, from the frame's header */
  frame(event: string, data: string): void {
    if (this.#done) return;
    const frame = parseJson(data);
    if (!isJsonObject(frame)) {
      this.#fail(unreadableFrame(data));
      return;
    }
    if (!this.#started) {
      this.#started = true;
      this.#sink.on({ type: 'start' });
    }
    switch (event) {
      case 'contentBlockDelta':
        this.#emitter.delta(blockIndex(frame), asObject(frame['delta']));
        return;
      case 'contentBlockStart':
        this.#emitter.start(blockIndex(frame), asObject(frame['start']));
        return;
      case 'contentBlockStop':
        this.#emitter.stop(blockIndex(frame));
        return;
      case 'messageStart':
        return;
      case 'messageStop':
        this.#stop(frame);
        return;
      case 'metadata':
        if (isJsonObject(frame['usage'])) this.#emitter.count(frame['usage']);
        this.#finishIfComplete();
        return;
      default:
        this.#sink.on({ type: 'unknown', source: { protocol: 'bedrock-converse', raw: { [event]: frame } } });
    }
  }

  end(): void {
    if (this.#done) return;
    // Only the token counts are missing then.
    if (this.#emitter.stopped) this.#finish();
    else this.#fail(unavailable('the upstream ended the stream before the response was complete'));
  }

  #stop(frame: JsonObject): void {
    const reason = asString(frame['stopReason']) ?? '';
    const malformed = malformedAnswer(reason);
    if (malformed) {
      this.#fail(malformed);
      return;
    }
    this.#emitter.stopBecause(reason, asObject(frame['additionalModelResponseFields']));
    this.#finishIfComplete();
  }

  /** Finishes once there are both a stop reason and the counts, which follow it. */
  #finishIfComplete(): void {
    if (this.#emitter.stopped && this.#emitter.counted) this.#finish();
  }

  #finish(): void {
    this.#done = true;
    this.#emitter.finish();
  }

  #fail(error: GatewayError): void {
    this.#done = true;
    this.#emitter.flush();
    this.#sink.on({ type: 'error', error });
  }
}

function blockIndex(frame: JsonObject): number {
  return asNumber(frame['contentBlockIndex']) ?? 0;
}

function unavailable(message: string): GatewayError {
  return new GatewayError('upstream_unavailable', message);
}
