// Relayed stream of Chat Completions: replaces `id` and `model`, reads usage and finish reason, and passes every other
// byte unchanged. Only for upstreams that follow OpenAI's definition.
import { asArray, asObject, asString, isJsonObject, parseJson } from '../../base/json/index.ts';
import { brokenAnswer, cutAnswer, unreadableFrame } from '../errors/broken-answer.ts';
import { replaceData } from '../streams/frame-splitter.ts';
import { editMembers, writtenLength } from '../relay/json-splice.ts';
import { PatchedStream } from '../relay/relay-stream.ts';
import { decodeInlineError } from './answers/decode-error.ts';
import { decodeUsage } from './answers/decode-usage.ts';
import { deltaChars, finishOf, hasContent } from './answers/read-choice.ts';

const UNCOUNTED = ['usage'];
const NOT_FINISHED = '"finish_reason":null';
const DONE = 'data: [DONE]\n\n';
/** Member of every chunk before the last if token counts are requested. In a string, it would be escaped. */
const NOT_COUNTED = ',"usage":null';
const WRITTEN = ['"content":', '"arguments":'] as const;

export class ChatRelayStream extends PatchedStream {
  /** Envelope with which all frames of the stream begin, and its replacement. */
  #prefix = '';
  #patched = '';

  protected override close(): string {
    // A finish reason ends an answer even if `[DONE]` is missing. Without one, the answer was cut.
    if (this.finish === undefined) this.error ??= cutAnswer();
    else this.committed ||= this.error === undefined;
    return this.error ? '' : DONE;
  }

  protected override take(frame: string): boolean {
    this.add(this.#frame(frame));
    return !this.done && this.error === undefined;
  }

  /** Returns a patched frame; '' if it is withheld. */
  #frame(frame: string): string {
    const prefix = this.#prefix;
    if (!this.committed || prefix === '' || !frame.startsWith(prefix)) return this.#inspect(frame);
    const at = frame.indexOf(NOT_FINISHED, prefix.length);
    if (at < 0) return this.#inspect(frame);
    this.outputChars += writtenLength(frame, WRITTEN, prefix.length);
    const uncounted = this.facts.showUsage ? -1 : frame.indexOf(NOT_COUNTED, at);
    return uncounted >= 0
      ? this.#patched + frame.slice(prefix.length, uncounted) + frame.slice(uncounted + NOT_COUNTED.length)
      : this.#patched + frame.slice(prefix.length);
  }

  /** Slow path, for frames that open or finish the answer, contain usage or an error, or are unknown. */
  #inspect(arrived: string): string {
    const isPlain = arrived.startsWith('data:') && !/[\r\n]/.test(arrived.trimEnd());
    const frame = isPlain ? arrived : joinData(arrived);
    if (!frame.startsWith('data:')) return frame;
    const data = frame.slice(5).trim();
    if (data === '[DONE]') {
      this.done = true;
      this.committed ||= this.finish !== undefined;
      return '';
    }
    const json = parseJson(data);
    if (!isJsonObject(json)) {
      this.error ??= unreadableFrame(data);
      return '';
    }
    if (json['error'] !== undefined && json['error'] !== null) {
      this.error ??= decodeInlineError(json) ?? brokenAnswer('the upstream reported an error');
      this.errorShown = this.committed;
      return this.committed ? replaceData(frame, data, this.facts.redact(data)) : '';
    }
    this.upstreamId ??= asString(json['id']);
    if (isJsonObject(json['usage'])) this.usage = decodeUsage(json['usage']);
    const choices = asArray(json['choices']);
    if (choices.length === 0) {
      // A frame that is not a chunk passes unchanged, like unknown members.
      if (json['choices'] === undefined && json['usage'] === undefined) return arrived;
      if (!this.facts.showUsage) return '';
    }
    const choice = asObject(choices[0]);
    const finish = finishOf(choice);
    if (finish) this.finish = finish;
    const delta = asObject(choice['delta']);
    if (hasContent(delta)) this.committed = true;
    // An empty answer is held back until its end, because another endpoint may still answer.
    if (finish) this.isEmpty = !this.committed;
    this.outputChars += deltaChars(delta);
    const patched = editMembers(frame, {
      set: { id: this.facts.id, model: this.facts.model },
      remove: json['usage'] === null && !this.facts.showUsage ? UNCOUNTED : undefined,
    });
    if (this.#prefix === '') this.#learn(frame, patched);
    return patched;
  }

  #learn(frame: string, patched: string): void {
    const end = frame.indexOf('"choices":');
    const patchedEnd = patched.indexOf('"choices":');
    const envelope = frame.slice(0, end);
    if (end < 0 || !envelope.includes('"id":') || !envelope.includes('"model":')) return;
    this.#prefix = envelope;
    this.#patched = patched.slice(0, patchedEnd);
  }
}

/** Joins several lines of data into one. A frame without data is unchanged. */
function joinData(frame: string): string {
  const data = frame.split(/\r\n|\r|\n/).filter((line) => line.startsWith('data:'));
  return data.length === 0 ? frame : `data: ${data.map((line) => line.slice(5).trim()).join(' ')}\n\n`;
}
