// Decodes the frames of a Chat Completions stream, and detects whether the stream is complete, cut or broken.
import type { CodecContext, StreamDecoder } from '../../protocol.ts';
import type { JsonObject } from '../../../base/json/index.ts';
import type { EventSink, GatewayError } from '../../../canonical/index.ts';
import { asArray, asObject, asString, isJsonObject, parseJson } from '../../../base/json/index.ts';
import { brokenAnswer, cutAnswer, unreadableFrame } from '../../errors/broken-answer.ts';
import { RepeatedEvent } from '../../streams/repeated-event.ts';
import { AnswerDecoder } from './answer-emitter.ts';
import { decodeInlineError } from './decode-error.ts';
import { failureReason } from './decode-response.ts';
import type { WireCompletion } from '../wire-types.ts';

/** Creates a decoder for one stream. The answer ends at `[DONE]`, or with the stream after a finish reason. */
export function decodeStream(sink: EventSink, context: CodecContext): StreamDecoder {
  return new ChatStreamDecoder(sink, context);
}

class ChatStreamDecoder implements StreamDecoder {
  readonly #answer: AnswerDecoder;
  readonly #repeated = new RepeatedEvent();
  #ended = false;

  constructor(sink: EventSink, context: CodecContext) {
    this.#answer = new AnswerDecoder(sink, context);
  }

  frame(event: string, data: string): void {
    if (this.#ended || data === '') return;
    const text = event === '' ? this.#repeated.textOf(data) : undefined;
    if (text !== undefined) return this.#answer.more(text);
    this.#repeated.forget();
    if (data === '[DONE]' || (data.length < 12 && data.trim() === '[DONE]')) return this.#finish();
    const chunk = parseJson(data);
    if (!isJsonObject(chunk)) return this.#fail(unreadableFrame(data));
    const error = decodeInlineError(chunk, event);
    if (error) return this.#fail(error);
    this.#answer.take(chunk as WireCompletion, false);
    const said = event === '' && this.#answer.reads(asArray(chunk['choices'])) ? onlyText(chunk) : undefined;
    if (said) this.#repeated.note(data, 'content', said);
  }

  end(): void {
    if (this.#ended) return;
    if (this.#answer.finishWord !== undefined) return this.#finish();
    this.#fail(cutAnswer());
  }

  interrupt(): void {
    if (!this.#ended) this.#answer.flushUsage();
  }

  #finish(): void {
    // `[DONE]` alone, without content or a finish reason, is not an answer.
    if (this.#answer.finishWord === undefined && this.#answer.isEmpty)
      return this.#fail(brokenAnswer('the upstream ended the stream without a response'));
    const failure = failureReason(this.#answer.finishWord);
    if (failure) return this.#fail(failure);
    this.#ended = true;
    this.#answer.finish();
  }

  #fail(error: GatewayError): void {
    this.#ended = true;
    this.#answer.fail(error);
  }
}

/** Members that are the same in all chunks of a stream, or carry no content. */
const ENVELOPE = new Set([
  'id',
  'object',
  'created',
  'model',
  'system_fingerprint',
  'service_tier',
  'choices',
]);
const CHOICE = new Set(['index', 'delta']);
const DELTA = new Set(['content', 'role']);
/** Members that many servers send without a value. */
const NOT_REPORTED = new Set([
  'usage',
  'finish_reason',
  'logprobs',
  'refusal',
  'reasoning',
  'reasoning_content',
  'tool_calls',
  'function_call',
]);

/** Returns the text of a chunk that contains nothing else. */
function onlyText(chunk: JsonObject): string | undefined {
  const choices = asArray(chunk['choices']);
  const choice = asObject(choices[0]);
  const delta = asObject(choice['delta']);
  const isPlain =
    choices.length === 1 && hasOnly(chunk, ENVELOPE) && hasOnly(choice, CHOICE) && hasOnly(delta, DELTA);
  return isPlain ? asString(delta['content']) : undefined;
}

function hasOnly(object: JsonObject, names: ReadonlySet<string>): boolean {
  for (const name in object)
    if (!names.has(name) && !(object[name] === null && NOT_REPORTED.has(name))) return false;
  return true;
}
