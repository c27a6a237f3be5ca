// Relayed Responses stream: patches response objects, reads usage and status, and passes every other byte unchanged.
// Only for upstreams that follow OpenAI's definition.
import { eventFrame } from '../../base/lib/event-stream.ts';
import type { JsonObject, JsonValue } from '../../base/json/index.ts';
import type { GatewayError } from '../../canonical/index.ts';
import { fromByteString } from '../../base/lib/bytes.ts';
import { asNumber, asObject, asString, isJsonObject, parseJson } from '../../base/json/index.ts';
import { AnswerTap, NO_IDS } from '../relay/answer-tap.ts';
import { cutAnswer, unreadableFrame } from '../errors/broken-answer.ts';
import { frameData, replaceData } from '../streams/frame-splitter.ts';
import { editMemberObject, editMembers, writtenLength } from '../relay/json-splice.ts';
import { PatchedStream } from '../relay/relay-stream.ts';
import { emitEnding } from './answers/decode-answer.ts';
import { decodeFailure } from './answers/decode-error.ts';
import { kindOfItem } from './decode-item.ts';
import { encodeFailure } from './answers/encode-response-object.ts';
import { ItemEmitter } from './answers/answer-emitter.ts';
import { responsePatches } from './answers/response-patches.ts';

const EVENT = 'event: response.';
const WRITTEN = ['"delta":'] as const;

export class ResponsesRelayStream extends PatchedStream {
  #tail = '';
  /** Last event that passed, and data of the first one, from which a failure event is built. */
  #last = '';
  #opening = '{"response":{}}';
  #final: JsonObject | undefined;
  /** True: the upstream's own `error` was sent, but its `response.failed` may still be missing. */
  #errorPassed = false;

  protected override close(): string {
    if (!this.done) this.error ??= cutAnswer();
    const tail = this.#tail;
    this.#tail = '';
    return tail;
  }

  answer(): string | undefined {
    if (!this.#final) return undefined;
    // Events are byte strings.
    return fromByteString(JSON.stringify({ ...this.#final, ...responsePatches(this.facts) }));
  }

  /**
   * Returns `error` and `response.failed`, numbered after the last event. Only `response.failed` if the upstream's own
   * `error` was sent; '' before the first content.
   */
  fail(error: GatewayError): string {
    if (!this.committed || this.done || this.errorShown) return '';
    this.errorShown = true;
    const failure = encodeFailure(error);
    const { sequence_number: last } = asObject(parseJson(frameData(this.#last)));
    let sequence_number = (asNumber(last) ?? -1) + 1;
    const { message } = failure;
    const code = error.code ?? failure.code;
    let reported = '';
    if (!this.#errorPassed) {
      const event = { type: 'error', sequence_number, code, message, param: error.param ?? null };
      reported = writeFrame('error', editMembers('{}', { set: event }));
      sequence_number++;
    }
    const response = { ...responsePatches(this.facts), status: 'failed', error: failure };
    const failed = { type: 'response.failed', sequence_number };
    const opening = editMemberObject(this.#opening, 'response', { set: response });
    return reported + writeFrame('response.failed', editMembers(opening, { set: failed }));
  }

  protected override take(frame: string): boolean {
    if (!this.committed || this.error || !isDelta(frame)) return this.#inspect(frame);
    this.outputChars += writtenLength(frame, WRITTEN, EVENT.length);
    this.#last = frame;
    this.add(frame);
    return true;
  }

  /**
   * Slow path, for events that open or finish the answer, report a failure, or are unknown.
   * @returns false after the last event
   */
  #inspect(frame: string): boolean {
    const data = frameData(frame);
    // Comments keep the connection alive. `[DONE]` is not part of this protocol.
    if (data === '' && !this.error) this.add(frame);
    if (data === '' || data === '[DONE]') return true;
    const json = parseJson(data);
    if (!isJsonObject(json)) {
      this.error ??= unreadableFrame(data);
      return false;
    }
    const type = asString(json['type']) ?? '';
    this.#last = frame;
    // After an error, only its `response.failed` matters.
    if (this.error && type !== 'response.failed') return true;
    switch (type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        this.#opening = data;
        this.upstreamId ??= asString(asObject(json['response'])['id']);
        this.add(this.#patched(frame, data));
        return true;
      case 'response.completed':
      case 'response.incomplete':
        return this.#ended(type === 'response.completed' ? 'completed' : 'incomplete', json, frame, data);
      case 'response.failed':
        return this.#ended('failed', json, frame, data);
      case 'error':
        this.error = decodeFailure(isJsonObject(json['error']) ? json['error'] : json);
        this.#errorPassed = this.committed;
        if (this.committed) this.add(replaceData(frame, data, this.facts.redact(data)));
        return true;
      default:
        this.committed ||= isContent(type, json);
        if (typeof json['delta'] === 'string') this.outputChars += json['delta'].length;
        this.add(frame);
        return true;
    }
  }

  #ended(
    ending: 'completed' | 'incomplete' | 'failed',
    json: JsonObject,
    frame: string,
    data: string,
  ): false {
    const response = asObject(json['response']);
    this.upstreamId ??= asString(response['id']);
    const tap = new AnswerTap();
    emitEnding(ending, response, new ItemEmitter(tap, NO_IDS), tap);
    this.usage = tap.usage;
    if (tap.error) {
      this.error ??= tap.error;
      this.errorShown = this.committed;
      if (this.committed) this.add(this.#failed(frame, data, response['error']));
      return false;
    }
    this.finish = tap.finish;
    this.outputChars ||= tap.outputChars;
    this.isEmpty = !this.committed && tap.isEmpty;
    this.committed = true;
    this.done = true;
    this.#final = response;
    this.#tail = this.#patched(frame, data);
    return false;
  }

  /** Patches the failed response: masks its error, and leaves the model's output unchanged. */
  #failed(frame: string, data: string, error: JsonValue | undefined): string {
    const words = JSON.stringify(error ?? null);
    const masked = this.facts.redact(words);
    const masks: Record<string, JsonValue> = masked === words ? {} : { error: parseJson(masked) ?? null };
    const set = { ...responsePatches(this.facts), ...masks };
    return replaceData(frame, data, editMemberObject(data, 'response', { set }));
  }

  #patched(frame: string, data: string): string {
    const set = responsePatches(this.facts);
    return replaceData(frame, data, editMemberObject(data, 'response', { set }));
  }
}

function writeFrame(type: string, data: string): string {
  return eventFrame(type, data);
}

/** True for an event that a client would see as part of the answer. */
function isContent(type: string, json: JsonObject): boolean {
  if (type.endsWith('.delta')) return json['delta'] !== '';
  if (type === 'response.output_item.done') return true;
  if (type !== 'response.output_item.added') return false;
  const kind = kindOfItem(asString(asObject(json['item'])['type']) ?? '');
  return kind !== 'message' && kind !== 'reasoning';
}

/** True if the event's name is that of a delta, which needs no patch. */
function isDelta(frame: string): boolean {
  return frame.startsWith(EVENT) && frame.startsWith('.delta', frame.indexOf('\n') - '.delta'.length);
}
