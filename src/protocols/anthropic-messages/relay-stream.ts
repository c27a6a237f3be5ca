// Relayed Messages stream: patches the message of `message_start`, reads usage and stop reason, and passes every other
// byte unchanged. Only for upstreams that follow Anthropic's definition.
import type { JsonObject } from '../../base/json/index.ts';
import { asArray, asObject, asString, isJsonObject, parseJson } from '../../base/json/index.ts';
import { brokenAnswer, cutAnswer, unreadableFrame } from '../errors/broken-answer.ts';
import { frameData, replaceData } from '../streams/frame-splitter.ts';
import { editMemberObject, writtenLength } from '../relay/json-splice.ts';
import { PatchedStream } from '../relay/relay-stream.ts';
import { decodeErrorFrame } from './answers/decode-error.ts';
import { decodeUsage, mergeUsage } from './answers/decode-usage.ts';
import { messageId } from './answers/encode-envelope.ts';
import { decodeStopReason } from './answers/finish-reason.ts';

const DELTA = 'event: content_block_delta\n';
const STOP = 'event: message_stop\ndata: {"type":"message_stop"}\n\n';
/** Members of deltas with output of the model, as written in an event. */
const WRITTEN = ['"text":', '"partial_json":', '"thinking":'] as const;

export class MessagesRelayStream extends PatchedStream {
  #tail = '';
  #counts: JsonObject | undefined;

  protected override close(): string {
    // A stop reason ends an answer even if the last event is missing. Without one, the answer was cut.
    if (this.finish === undefined) this.error ??= cutAnswer();
    const tail = this.#tail || (this.error || this.done ? '' : STOP);
    this.#tail = '';
    this.done ||= this.error === undefined;
    this.committed ||= this.done;
    return tail;
  }

  protected override take(frame: string): boolean {
    if (!this.committed || !frame.startsWith(DELTA)) return this.#inspect(frame);
    this.outputChars += writtenLength(frame, WRITTEN, DELTA.length);
    this.add(frame);
    return true;
  }

  /**
   * Slow path, for events that open or finish the answer, contain usage or an error, or are unknown.
   * @returns false after the last event
   */
  #inspect(frame: string): boolean {
    const data = frameData(frame);
    if (data === '') {
      // Comments keep the connection alive.
      this.add(frame);
      return true;
    }
    const json = parseJson(data);
    if (!isJsonObject(json)) {
      this.error ??= unreadableFrame(data);
      return false;
    }
    switch (json['type']) {
      case 'message_start':
        this.#start(asObject(json['message']));
        this.add(this.#patched(frame, data));
        return true;
      case 'content_block_start':
        this.committed ||= !SILENT_BLOCKS.has(asString(asObject(json['content_block'])['type']) ?? '');
        break;
      case 'content_block_delta':
        this.committed = true;
        this.outputChars += writtenLength(frame, WRITTEN, 0);
        break;
      case 'message_delta':
        this.#count(json['usage']);
        this.#stop(asObject(json['delta']));
        break;
      case 'message_stop':
        this.done = this.finish !== undefined;
        this.error ??= this.done
          ? undefined
          : brokenAnswer('the upstream ended a response without a stop reason');
        if (this.done) this.#tail = frame;
        this.committed ||= this.done;
        return false;
      case 'error':
        this.error ??= decodeErrorFrame(json, data);
        this.errorShown = this.committed;
        if (this.committed) this.add(replaceData(frame, data, this.facts.redact(data)));
        return false;
      default:
    }
    this.add(frame);
    return true;
  }

  /** Handles the message. It has content only if code that runs at Anthropic calls a tool, and then all of it. */
  #start(message: JsonObject): void {
    this.upstreamId ??= asString(message['id']);
    this.#count(message['usage']);
    this.#stop(message);
    if (asArray(message['content']).length > 0) this.committed = true;
  }

  #stop(envelope: JsonObject): void {
    const raw = asString(envelope['stop_reason']);
    if (raw === undefined) return;
    // An empty answer is held back until its end, because another endpoint may still answer.
    this.isEmpty = !this.committed;
    const stopSequence = asString(envelope['stop_sequence']);
    this.finish = { type: 'finish', reason: decodeStopReason(raw), raw, stopSequence };
  }

  #count(usage: unknown): void {
    if (!isJsonObject(usage)) return;
    this.#counts = this.#counts === undefined ? usage : mergeUsage(this.#counts, usage);
    this.usage = decodeUsage(this.#counts);
  }

  #patched(frame: string, data: string): string {
    const { id, model } = this.facts;
    return replaceData(frame, data, editMemberObject(data, 'message', { set: { id: messageId(id), model } }));
  }
}

/** Blocks that the client sees only once they have content. */
const SILENT_BLOCKS: ReadonlySet<string> = new Set(['text', 'thinking']);
