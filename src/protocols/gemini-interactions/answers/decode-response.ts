// Decodes a whole interaction with the decoder for streams.
import type { EventSink } from '../../../canonical/index.ts';
import { asString, isJsonObject } from '../../../base/json/index.ts';
import { brokenAnswer } from '../../errors/broken-answer.ts';
import { decodeInlineError } from '../../google/decode-error.ts';
import type { CodecContext } from '../../protocol.ts';
import { AnswerEmitter } from './answer-emitter.ts';

/** Emits the events of an interaction. @throws GatewayError if the body is an error, or not an interaction */
export function decodeResponse(body: unknown, sink: EventSink, context: CodecContext): void {
  const failure = decodeInlineError(body);
  if (failure) throw failure;
  if (!isJsonObject(body) || asString(body['status']) === undefined)
    throw brokenAnswer("the upstream's response is not an interaction");
  new AnswerEmitter(sink, context).whole(body);
}
