// A whole interaction: what a stream brings in pieces, at once.
import type { EventSink } from '../../../canonical/index.ts';
import { asString, isJsonObject } from '../../../base/json/index.ts';
import { brokenAnswer } from '../../broken-answer.ts';
import { decodeInlineError } from '../../google/decode-error.ts';
import type { CodecContext } from '../../protocol.ts';
import { AnswerEmitter } from './answer-emitter.ts';

/**
 * Pushes the events of an interaction.
 * @throws GatewayError when the body is an error, or is none
 */
export function decodeResponse(body: unknown, sink: EventSink, context: CodecContext): void {
  const failure = decodeInlineError(body);
  if (failure) throw failure;
  if (!isJsonObject(body) || asString(body['status']) === undefined)
    throw brokenAnswer('the upstream answered with something that is no interaction');
  new AnswerEmitter(sink, context).whole(body);
}
