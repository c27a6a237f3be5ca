// Dispatches the events of a Responses stream. The emitter handles items; the end is shared with whole answers. Event
// names: OpenAI API reference, "Streaming events", and recordings up to 2026-11.
import type { JsonObject, JsonValue } from '../../../base/json/index.ts';
import type { EventSink, GatewayError, StartEvent } from '../../../canonical/index.ts';
import { asObject, asString, isJsonObject, parseJson } from '../../../base/json/index.ts';
import { cutAnswer, unreadableFrame } from '../../errors/broken-answer.ts';
import type { CodecContext, StreamDecoder } from '../../protocol.ts';
import type { Ending } from './decode-answer.ts';
import { decodeStart, emitEnding } from './decode-answer.ts';
import { decodeFailure } from './decode-error.ts';
import { sourceOf } from '../decode-item.ts';
import { ItemEmitter } from './answer-emitter.ts';
import type { WireEvent } from '../wire-types.ts';

export class ResponsesStreamDecoder implements StreamDecoder {
  readonly #sink: EventSink;
  readonly #items: ItemEmitter;
  #opening: StartEvent | undefined;
  #ended = false;

  constructor(sink: EventSink, context: CodecContext) {
    this.#sink = sink;
    this.#items = new ItemEmitter(sink, context);
  }

  frame(event: string, data: string): void {
    // `[DONE]` is not part of this protocol, but compatible servers send it.
    if (this.#ended || data === '' || data === '[DONE]') return;
    const frame = parseJson(data);
    if (!isJsonObject(frame)) return this.#fail(unreadableFrame(data));
    const type = (asString(frame['type']) ?? event) as WireEvent;
    switch (type) {
      case 'response.output_text.delta':
        return this.#begun().text(frame, 'text');
      case 'response.refusal.delta':
        return this.#begun().text(frame, 'refusal');
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return this.#begun().arguments(frame);
      case 'response.reasoning_summary_text.delta':
        return this.#begun().reasoning(frame, 'summary');
      case 'response.reasoning_text.delta':
      case 'response.reasoning.delta':
        return this.#begun().reasoning(frame, 'text');
      case 'response.output_text.annotation.added':
        return this.#begun().annotation(frame);
      case 'response.output_item.added':
        return this.#begun().added(frame['output_index'], asObject(frame['item']));
      case 'response.output_item.done':
        return this.#begun().done(frame['output_index'], asObject(frame['item']));
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        return this.#start(frame['response']);
      case 'response.completed':
        return this.#end('completed', frame);
      case 'response.incomplete':
        return this.#end('incomplete', frame);
      case 'response.failed':
        return this.#end('failed', frame);
      case 'response.cancelled':
        return this.#end('cancelled', frame);
      case 'error':
        return this.#fail(decodeFailure(isJsonObject(frame['error']) ? frame['error'] : frame));
      case 'response.output_text.done':
        return this.#begun().textDone(frame, 'text');
      case 'response.refusal.done':
        return this.#begun().textDone(frame, 'refusal');
      case 'response.function_call_arguments.done':
      case 'response.custom_tool_call_input.done':
        return this.#begun().argumentsDone(frame);
      case 'response.reasoning_summary_text.done':
        return this.#begun().reasoningDone(frame, 'summary');
      case 'response.reasoning_text.done':
      case 'response.reasoning.done':
        return this.#begun().reasoningDone(frame, 'text');
      // The other events around these contain everything in them.
      case 'response.content_part.added':
      case 'response.content_part.done':
      case 'response.reasoning_summary_part.added':
      case 'response.reasoning_summary_part.done':
      case 'response.reasoning_part.added':
      case 'response.reasoning_part.done':
      case 'keepalive':
        return;
      default:
        return this.#other(frame);
    }
  }

  end(): void {
    if (!this.#ended) this.#fail(cutAnswer());
  }

  #start(response: JsonValue | undefined): void {
    if (this.#opening) return;
    this.#opening = decodeStart(asObject(response));
    this.#sink.on(this.#opening);
  }

  /** Returns the emitter, after the start event: some servers omit `response.created`. */
  #begun(): ItemEmitter {
    if (!this.#opening) this.#start(undefined);
    return this.#items;
  }

  #end(ending: Ending, frame: JsonObject): void {
    const response = asObject(frame['response']);
    this.#start(response);
    this.#ended = true;
    emitEnding(ending, response, this.#items, this.#sink, this.#opening);
  }

  #fail(error: GatewayError): void {
    this.#ended = true;
    this.#start(undefined);
    this.#sink.on({ type: 'error', error });
  }

  /** Handles progress of hosted tools and unknown events. An object with only `error` is a failure from a proxy. */
  #other(frame: JsonObject): void {
    const { error } = frame;
    if (frame['type'] === undefined && error !== undefined && error !== null)
      return this.#fail(decodeFailure(isJsonObject(error) ? error : frame));
    this.#begun();
    this.#sink.on({ type: 'unknown', source: sourceOf(frame) });
  }
}
