// A relayed Responses stream: response objects are patched, a copy is read for the records, and every other byte
// passes. Only for upstreams that follow OpenAI's own definition.
import type { FinishEvent, JsonObject, Usage } from '../../canonical/index.ts';
import {
  asNumber,
  asObject,
  asString,
  GatewayError,
  isJsonObject,
  parseJson,
} from '../../canonical/index.ts';
import { FrameSplitter, frameData } from '../frame-splitter.ts';
import { editMemberObject, editMembers } from '../json-splice.ts';
import type { RelayFacts, RelayStream } from '../protocol.ts';
import { decodeFailure } from './decode-error.ts';
import { kindOfItem } from './decode-item.ts';
import { encodeFailure } from './encode-response-object.ts';
import { patches, readEnding } from './relay-tap.ts';

/** Most bytes that are held back for the first content. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;
const EVENT = 'event: response.';

export class ResponsesRelayStream implements RelayStream {
  readonly #facts: RelayFacts;
  readonly #frames = new FrameSplitter();
  /** What the current read lets pass. */
  #out = '';
  #held = '';
  #tail = '';
  /** The last event that passed, and the data of the first: what a failure goes on from. */
  #last = '';
  #opening = '{"response":{}}';
  #final: JsonObject | undefined;
  /** The upstream's own `error` went to the client; the response that failed through it may be missing. */
  #errorPassed = false;
  upstreamId: string | undefined;
  usage: Usage | undefined;
  finish: FinishEvent | undefined;
  error: GatewayError | undefined;
  errorShown = false;
  outputChars = 0;
  committed = false;
  done = false;

  constructor(facts: RelayFacts) {
    this.#facts = facts;
  }

  push(bytes: string): string {
    this.#frames.push(bytes, this.#take);
    return this.#release();
  }

  end(): string {
    const last = this.#frames.end();
    // A last event may lack its blank line, or be half an event that no client could read.
    if (last !== '' && !this.done && parseJson(frameData(last)) !== undefined) this.#inspect(`${last}\n\n`);
    if (!this.done && this.error === undefined) {
      this.error = new GatewayError(
        'upstream_unavailable',
        'the upstream closed the stream before the answer was complete',
      );
    }
    const tail = this.#tail;
    this.#tail = '';
    return this.#release() + tail;
  }

  answer(): string | undefined {
    return this.#final && JSON.stringify({ ...this.#final, ...patches(this.#facts) });
  }

  /**
   * `error` and `response.failed`, numbered behind what passed; the latter alone behind the upstream's own `error`. ''
   * before the first content.
   */
  fail(error: GatewayError): string {
    if (!this.committed || this.done || this.errorShown) return '';
    this.errorShown = true;
    const failure = encodeFailure(error);
    const { sequence_number: last } = asObject(parseJson(frameData(this.#last)));
    let sequence_number = (asNumber(last) ?? -1) + 1;
    const { message } = failure;
    const code = error.code ?? failure.code;
    let told = '';
    if (!this.#errorPassed) {
      const event = { type: 'error', sequence_number, code, message, param: error.param ?? null };
      told = writeFrame('error', editMembers('{}', { set: event }));
      sequence_number++;
    }
    const response = { ...patches(this.#facts), status: 'failed', error: failure };
    const failed = { type: 'response.failed', sequence_number };
    const opening = editMemberObject(this.#opening, 'response', { set: response });
    return told + writeFrame('response.failed', editMembers(opening, { set: failed }));
  }

  #release(): string {
    if (!this.committed) {
      this.#held += this.#out;
      this.#out = '';
      if (this.#held.length > MAX_HELD_BYTES) throw new RangeError('the stream begins with too much');
      return '';
    }
    const all = this.#held + this.#out;
    this.#held = '';
    this.#out = '';
    return all;
  }

  readonly #take = (text: string, from: number, to: number): boolean => {
    if (this.committed && !this.error && isDelta(text, from)) {
      this.outputChars += writtenChars(text, from, to);
      this.#last = text.slice(from, to);
      this.#out += this.#last;
      return true;
    }
    return this.#inspect(text.slice(from, to));
  };

  /** The slow road: for events that open, finish, fail, or are not known. @returns false behind the last one */
  #inspect(frame: string): boolean {
    const data = frameData(frame);
    // `[DONE]` is not of this protocol; comments keep a connection alive.
    if (data === '' && !this.error) this.#out += frame;
    if (data === '' || data === '[DONE]') return true;
    const json = parseJson(data);
    if (!isJsonObject(json)) {
      this.error ??= new GatewayError('upstream_unavailable', 'the upstream sent an event that is not JSON');
      return false;
    }
    const type = asString(json['type']) ?? '';
    this.#last = frame;
    // Behind an error only the response that failed through it is of interest.
    if (this.error && type !== 'response.failed') return true;
    switch (type) {
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        this.#opening = data;
        this.upstreamId ??= asString(asObject(json['response'])['id']);
        this.#out += this.#patched(frame, data);
        return true;
      case 'response.completed':
      case 'response.incomplete':
        return this.#ended(type === 'response.completed' ? 'completed' : 'incomplete', json, frame, data);
      case 'response.failed':
        return this.#ended('failed', json, frame, data);
      case 'error':
        this.error = decodeFailure(isJsonObject(json['error']) ? json['error'] : json);
        this.#errorPassed = this.committed;
        if (this.committed) this.#out += frame;
        return true;
      default:
        this.committed ||= isContent(type, json);
        if (typeof json['delta'] === 'string') this.outputChars += json['delta'].length;
        this.#out += frame;
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
    const tap = readEnding(ending, response);
    this.usage = tap.usage;
    if (tap.error) {
      this.error ??= tap.error;
      this.errorShown = this.committed;
      if (this.committed) this.#out += this.#patched(frame, data);
      return false;
    }
    this.finish = tap.finish;
    this.outputChars ||= tap.outputChars;
    this.committed = true;
    this.done = true;
    this.#final = response;
    this.#tail = this.#patched(frame, data);
    return false;
  }

  #patched(frame: string, data: string): string {
    const patched = editMemberObject(data, 'response', { set: patches(this.#facts) });
    // Data in several lines is rare, and may be written in one.
    if (frame.includes(data)) return frame.replace(data, () => patched);
    const event = /^event:.*\n/m.exec(frame)?.[0] ?? '';
    return `${event}data: ${patched.replaceAll('\n', ' ')}\n\n`;
  }
}

function writeFrame(type: string, data: string): string {
  return `event: ${type}\ndata: ${data}\n\n`;
}

/** True for an event that a client would see as part of the answer. */
function isContent(type: string, json: JsonObject): boolean {
  if (type.endsWith('.delta')) return json['delta'] !== '';
  if (type === 'response.output_item.done') return true;
  if (type !== 'response.output_item.added') return false;
  const kind = kindOfItem(asString(asObject(json['item'])['type']) ?? '');
  return kind !== 'message' && kind !== 'reasoning';
}

/** True when the event's own line names a delta, which holds nothing to patch. */
function isDelta(text: string, from: number): boolean {
  if (!text.startsWith(EVENT, from)) return false;
  const end = text.indexOf('\n', from);
  return text.startsWith('.delta', end - 6);
}

/** Length of a delta, read off an event that is not parsed: bytes, escapes included. */
function writtenChars(text: string, from: number, to: number): number {
  const start = text.indexOf('"delta":"', from) + 9;
  if (start < 9 || start > to) return 0;
  let end = text.indexOf('"', start);
  while (text.charCodeAt(end - 1) === 92 && end >= 0 && end < to) end = text.indexOf('"', end + 1);
  return end < 0 || end > to ? 0 : end - start;
}
