// Decodes a whole answer of `generateContent`, like a stream with one chunk.
import type { EventSink } from '../../../canonical/index.ts';
import { isJsonArray, isJsonObject } from '../../../base/json/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import type { CodecContext } from '../../protocol.ts';
import { AnswerEmitter } from './answer-emitter.ts';
import { decodeInlineError } from '../../google/decode-error.ts';

/** Emits the events of an answer body. @throws GatewayError if the body is an error, or not an answer */
export function decodeResponse(body: unknown, sink: EventSink, context: CodecContext): void {
  const failure = decodeInlineError(body);
  if (failure) throw failure;
  if (!isJsonObject(body) || (!isJsonArray(body['candidates']) && !isJsonObject(body['promptFeedback'])))
    throw new GatewayError(
      'upstream_unavailable',
      "the upstream's response is not a GenerateContent response",
    );
  const emitter = new AnswerEmitter(sink, context);
  emitter.take(body);
  const hasCandidate = isJsonArray(body['candidates']) && body['candidates'].length > 0;
  if (!hasCandidate && !emitter.stopped)
    throw new GatewayError('upstream_unavailable', "the upstream's response has no candidate");
  emitter.finish();
}
