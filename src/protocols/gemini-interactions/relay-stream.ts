// Relayed stream of an interaction: patches ids and model names, and reads usage and status with the decoder.
import { isJsonObject, parseJson, type JsonObject } from '../../base/json/index.ts';
import { AnswerTap, NO_IDS } from '../relay/answer-tap.ts';
import { cutAnswer, unreadableFrame } from '../errors/broken-answer.ts';
import { frameData, replaceData } from '../streams/frame-splitter.ts';
import { PatchedStream } from '../relay/relay-stream.ts';
import { AnswerEmitter } from './answers/answer-emitter.ts';
import { TERMINATOR } from './answers/decode-stream.ts';
import { patchEvent } from './envelope.ts';

export class InteractionsRelayStream extends PatchedStream {
  readonly #tap = new AnswerTap();
  readonly #emitter = new AnswerEmitter(this.#tap, NO_IDS);
  /** Last event and terminator. They are held until the records are written. */
  #tail = '';

  protected override close(): string {
    if (!this.#emitter.over) this.error ??= cutAnswer();
    const tail = this.#tail;
    this.#tail = '';
    return tail;
  }

  protected override take(frame: string): boolean {
    const data = frameData(frame);
    if (data === TERMINATOR) {
      this.#tail += frame;
      this.done = this.#emitter.over;
      return !this.done;
    }
    if (data === '') {
      this.add(frame);
      return true;
    }
    const event = parseJson(data);
    if (isJsonObject(event)) this.#pass(frame, data, event);
    else this.error ??= unreadableFrame(data);
    return this.error === undefined;
  }

  #pass(frame: string, data: string, event: JsonObject): void {
    this.#emitter.take(event);
    const { upstreamId, usage, finish, error, outputChars, hasContent } = this.#tap;
    this.upstreamId = upstreamId;
    this.usage = usage;
    this.finish = finish;
    this.error = error;
    this.outputChars = outputChars;
    if (error) {
      this.errorShown = this.committed;
      if (this.committed)
        this.add(replaceData(frame, data, this.facts.redact(patchEvent(data, event, this.facts))));
      return;
    }
    this.isEmpty = this.#emitter.over && !hasContent && !this.committed;
    this.committed ||= this.#emitter.over || hasContent || isContent(event) || this.#runsOn();
    const patched = replaceData(frame, data, patchEvent(data, event, this.facts));
    if (this.#emitter.over) this.#tail += patched;
    else this.add(patched);
  }

  /** True if the interaction continues at the upstream. A retry would then create and bill a second one. */
  #runsOn(): boolean {
    return this.facts.background === true && this.upstreamId !== undefined;
  }
}

/** True for content without text, which the decoder does not count: images, audio and the work of tools. */
function isContent({ event_type: type, delta }: JsonObject): boolean {
  return type === 'step.delta' && isJsonObject(delta) && !('text' in delta) && !('arguments' in delta);
}
