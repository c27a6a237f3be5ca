// Decodes the server-sent events of the Messages API, and detects the end of the stream. `answer-emitter.ts` interprets
// the blocks.
import type { JsonObject, JsonValue } from '../../../base/json/index.ts';
import type { EventSink, GatewayError } from '../../../canonical/index.ts';
import { asArray, asNumber, asObject, asString, isJsonObject, parseJson } from '../../../base/json/index.ts';
import { brokenAnswer, cutAnswer, unreadableFrame } from '../../errors/broken-answer.ts';
import type { CodecContext, StreamDecoder } from '../../protocol.ts';
import { RepeatedEvent } from '../../streams/repeated-event.ts';
import { AnswerEmitter } from './answer-emitter.ts';
import { decodeErrorFrame } from './decode-error.ts';

/** Creates a decoder for one stream. After `finish` or `error` it ignores further frames. */
export function decodeStream(sink: EventSink, context: CodecContext): StreamDecoder {
  return new MessagesStreamDecoder(sink, context);
}

class MessagesStreamDecoder implements StreamDecoder {
  readonly #sink: EventSink;
  readonly #emitter: AnswerEmitter;
  /** Recognizes repeated text deltas; `#block` is the index of their block. */
  readonly #repeated = new RepeatedEvent();
  #block = 0;
  #started = false;
  /** Id of the current answer, until its first content. */
  #id: JsonValue | undefined;
  #done = false;

  constructor(sink: EventSink, context: CodecContext) {
    this.#sink = sink;
    this.#emitter = new AnswerEmitter(sink, context);
  }

  frame(event: string, data: string): void {
    if (this.#done || event === 'ping') return;
    const text = this.#repeated.textOf(data);
    if (text !== undefined) return this.#emitter.text(this.#block, text);
    this.#repeated.forget();
    const frame = parseJson(data);
    if (!isJsonObject(frame)) {
      // Some compatible servers end with OpenAI's terminator.
      if (data !== '[DONE]') this.#fail(unreadableFrame(data));
      return;
    }
    const type = frame['type'] ?? event;
    switch (type) {
      case 'content_block_delta':
        this.#ensureStarted();
        this.#emitter.delta(blockIndex(frame), asObject(frame['delta']), frame);
        this.#note(frame, data);
        return;
      case 'content_block_start':
        this.#ensureStarted();
        this.#id = undefined;
        this.#emitter.openBlock(blockIndex(frame), asObject(frame['content_block']));
        return;
      case 'content_block_stop':
        this.#emitter.closeBlock(blockIndex(frame));
        return;
      case 'message_start':
        this.#start(asObject(frame['message']));
        return;
      case 'message_delta':
        this.#ensureStarted();
        this.#emitter.end(frame);
        return;
      case 'message_stop':
        if (this.#started) this.#finish();
        return;
      case 'ping':
        return;
      case 'error':
        this.#fail(decodeErrorFrame(frame, data));
        return;
      default:
        this.#emitter.other(asNumber(frame['index']), frame);
    }
  }

  end(): void {
    if (this.#done) return;
    // A stop reason in `message_delta` completes the answer. Only the terminator is missing then.
    if (this.#emitter.stopped) this.#finish();
    else this.#fail(cutAnswer());
  }

  interrupt(): void {
    if (!this.#done) this.#emitter.flushUsage();
  }

  /** Notes an event that contains only text of an open block. */
  #note(frame: JsonObject, data: string): void {
    const delta = asObject(frame['delta']);
    const text = delta['type'] === 'text_delta' ? asString(delta['text']) : undefined;
    const isPlain = Object.keys(frame).length === 3 && Object.keys(delta).length === 2;
    const index = blockIndex(frame);
    if (!text || !isPlain || frame['type'] !== 'content_block_delta' || !this.#emitter.isText(index)) return;
    this.#block = index;
    this.#repeated.note(data, 'text', text);
  }

  /**
   * Handles `message_start`, which normally has no content. If code execution calls a client tool, it contains the
   * calls, and `message_stop` follows immediately (recorded 2025-12).
   */
  #start(message: JsonObject): void {
    // Some servers send it twice at the start.
    if (this.#started && this.#id !== undefined && message['id'] === this.#id) return;
    if (this.#started) {
      // Events that were already emitted cannot be undone.
      this.#fail(brokenAnswer('the upstream started a second response in the same stream'));
      return;
    }
    this.#started = true;
    this.#id = message['id'];
    this.#emitter.start(message);
    // The input counts are already final: if the stream is cut later, they are better than none.
    this.#emitter.flushUsage();
    let index = 0;
    for (const block of asArray(message['content'])) {
      this.#emitter.openBlock(index, asObject(block));
      this.#emitter.closeBlock(index);
      index++;
    }
    this.#emitter.stop({ stop_reason: message['stop_reason'], stop_sequence: message['stop_sequence'] });
  }

  /** Emits the start event if the server omitted `message_start`. */
  #ensureStarted(): void {
    if (!this.#started) this.#start({});
  }

  #finish(): void {
    this.#done = true;
    this.#emitter.finish();
  }

  #fail(error: GatewayError): void {
    this.#done = true;
    this.#emitter.flushUsage();
    this.#sink.on({ type: 'error', error });
  }
}

function blockIndex(frame: JsonObject): number {
  const index = asNumber(frame['index']);
  return index === undefined || index < 0 ? 0 : index;
}
