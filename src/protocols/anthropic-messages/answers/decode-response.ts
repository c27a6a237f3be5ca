// Decodes a whole answer of the Messages API, with the same blocks as a stream.
import type { EventSink } from '../../../canonical/index.ts';
import { asArray, asObject, isJsonArray, isJsonObject } from '../../../base/json/index.ts';
import { GatewayError, TEXTS } from '../../../canonical/index.ts';
import type { CodecContext } from '../../protocol.ts';
import { AnswerEmitter } from './answer-emitter.ts';
import { decodeErrorFrame } from './decode-error.ts';

/** Emits the events of an answer body. @throws GatewayError if the body is an error, or not a message */
export function decodeResponse(body: unknown, sink: EventSink, context: CodecContext): void {
  if (isJsonObject(body) && body['type'] === 'error') throw decodeErrorFrame(body, JSON.stringify(body));
  if (!isJsonObject(body) || !isJsonArray(body['content'])) {
    throw new GatewayError('upstream_unavailable', TEXTS.noMessage);
  }
  const emitter = new AnswerEmitter(sink, context);
  emitter.start(body);
  let index = 0;
  for (const block of asArray(body['content'])) {
    emitter.openBlock(index, asObject(block));
    emitter.closeBlock(index);
    index++;
  }
  emitter.stop(body);
  emitter.finish();
}
