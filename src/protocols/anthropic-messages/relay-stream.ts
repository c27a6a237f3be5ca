// A relayed Messages stream: the message of `message_start` is patched, a copy is read for the records, and every other
// byte passes. Only for upstreams that follow Anthropic's own definition.
import type { FinishEvent, JsonObject, Usage } from '../../canonical/index.ts';
import { asArray, asObject, asString, GatewayError, isJsonObject, parseJson } from '../../canonical/index.ts';
import { FrameSplitter, frameData } from '../frame-splitter.ts';
import { editMemberObject } from '../json-splice.ts';
import type { RelayFacts, RelayStream } from '../protocol.ts';
import { decodeErrorFrame } from './decode-error.ts';
import { decodeUsage, mergeUsage } from './decode-usage.ts';
import { decodeStopReason } from './stop-reason.ts';

/** Most bytes that are held back for the first content. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;
const DELTA = 'event: content_block_delta\n';
const STOP = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';
/** Members of deltas that hold what the model writes, as they stand in an event. */
const WRITTEN = ['"text":', '"partial_json":', '"thinking":'] as const;

export class MessagesRelayStream implements RelayStream {
  readonly #facts: RelayFacts;
  readonly #frames = new FrameSplitter();
  /** What the current read lets pass. */
  #out = '';
  #held = '';
  #tail = '';
  #counts: JsonObject | undefined;
  upstreamId: string | undefined;
  finish: FinishEvent | undefined;
  error: GatewayError | undefined;
  errorShown = false;
  outputChars = 0;
  committed = false;
  done = false;

  constructor(facts: RelayFacts) {
    this.#facts = facts;
  }

  get usage(): Usage | undefined {
    return this.#counts && decodeUsage(this.#counts);
  }

  push(bytes: string): string {
    this.#frames.push(bytes, this.#take);
    return this.#release();
  }

  end(): string {
    const last = this.#frames.end();
    // A last event may lack its blank line, or be half an event that no client could read.
    if (last !== '' && !this.done && parseJson(frameData(last)) !== undefined) this.#inspect(`${last}\n\n`);
    // A stop reason ends an answer even where the last event was forgotten; without one it was cut.
    if (this.finish === undefined && this.error === undefined) {
      this.error = new GatewayError(
        'upstream_unavailable',
        'the upstream closed the stream before the answer was complete',
      );
    }
    const tail = this.#tail || (this.error || this.done ? '' : STOP);
    this.#tail = '';
    this.done ||= this.error === undefined;
    return this.#release() + tail;
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
    if (!this.committed || !text.startsWith(DELTA, from)) return this.#inspect(text.slice(from, to));
    this.outputChars += writtenChars(text, from, to);
    this.#out += text.slice(from, to);
    return true;
  };

  /** The slow road: for events that open, finish, count, fail, or are not known. @returns false behind the last one */
  #inspect(frame: string): boolean {
    const data = frameData(frame);
    // Comments keep a connection alive.
    if (data === '') this.#out += frame;
    if (data === '') return true;
    const json = parseJson(data);
    if (!isJsonObject(json)) {
      this.error ??= new GatewayError('upstream_unavailable', 'the upstream sent an event that is not JSON');
      return false;
    }
    switch (json['type']) {
      case 'message_start':
        this.#start(asObject(json['message']));
        this.#out += this.#patched(frame, data);
        return true;
      case 'content_block_start':
        this.committed ||= !SILENT_BLOCKS.has(asString(asObject(json['content_block'])['type']) ?? '');
        break;
      case 'content_block_delta':
        this.committed = true;
        this.outputChars += writtenChars(frame, 0, frame.length);
        break;
      case 'message_delta':
        this.#count(json['usage']);
        this.#stop(asObject(json['delta']));
        break;
      case 'message_stop':
        this.done = this.finish !== undefined;
        this.error ??= this.done
          ? undefined
          : new GatewayError('upstream_unavailable', 'the upstream ended an answer without a stop reason');
        if (this.done) this.#tail = frame;
        return false;
      case 'error':
        this.error ??= decodeErrorFrame(json, data);
        this.errorShown = this.committed;
        if (this.committed) this.#out += frame;
        return false;
      default:
    }
    this.#out += frame;
    return true;
  }

  /** A message has no content yet, unless code that runs at Anthropic calls a tool: then all of it is here. */
  #start(message: JsonObject): void {
    this.upstreamId ??= asString(message['id']);
    this.#count(message['usage']);
    this.#stop(message);
    if (asArray(message['content']).length > 0) this.committed = true;
  }

  #stop(envelope: JsonObject): void {
    const raw = asString(envelope['stop_reason']);
    if (raw === undefined) return;
    this.committed = true;
    const stopSequence = asString(envelope['stop_sequence']);
    this.finish = { type: 'finish', reason: decodeStopReason(raw), raw, stopSequence };
  }

  #count(usage: unknown): void {
    if (!isJsonObject(usage)) return;
    this.#counts = this.#counts === undefined ? usage : mergeUsage(this.#counts, usage);
  }

  #patched(frame: string, data: string): string {
    const { id, model } = this.#facts;
    const patched = editMemberObject(data, 'message', { set: { id, model } });
    // Data in several lines is rare, and may be written in one.
    if (frame.includes(data)) return frame.replace(data, () => patched);
    return `event: message_start\ndata: ${patched.replaceAll('\n', ' ')}\n\n`;
  }
}

/** Blocks that a client sees only once there is something in them. */
const SILENT_BLOCKS: ReadonlySet<string> = new Set(['text', 'thinking']);

/** Length of what a delta writes, read off an event that is not parsed: bytes, escapes included. */
function writtenChars(text: string, from: number, to: number): number {
  for (const member of WRITTEN) {
    const at = text.indexOf(member, from);
    if (at < 0 || at >= to) continue;
    const start = text.indexOf('"', at + member.length) + 1;
    let end = text.indexOf('"', start);
    while (text.charCodeAt(end - 1) === 92 && end >= 0 && end < to) end = text.indexOf('"', end + 1);
    return end < 0 || end > to ? 0 : end - start;
  }
  return 0;
}
