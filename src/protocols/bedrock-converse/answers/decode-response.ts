// Decodes a whole Converse answer.
import type { EventSink } from '../../../canonical/index.ts';
import { asArray, asObject, asString, isJsonArray, isJsonObject } from '../../../base/json/index.ts';
import { GatewayError, TEXTS } from '../../../canonical/index.ts';
import type { CodecContext } from '../../protocol.ts';
import { AnswerEmitter } from './answer-emitter.ts';
import { malformedAnswer } from './finish-reason.ts';

/**
 * Emits the events of an answer body.
 * @throws GatewayError if the body is not an answer, or the model's output was malformed
 */
export function decodeResponse(body: unknown, sink: EventSink, context: CodecContext): void {
  const message = isJsonObject(body) ? asObject(asObject(body['output'])['message']) : {};
  if (!isJsonObject(body) || !isJsonArray(message['content']))
    throw new GatewayError('upstream_unavailable', TEXTS.noMessage);
  const reason = asString(body['stopReason']) ?? '';
  const malformed = malformedAnswer(reason);
  if (malformed) throw malformed;
  const emitter = new AnswerEmitter(sink, context);
  sink.on({ type: 'start' });
  asArray(message['content']).forEach((block, index) => emitter.whole(index, asObject(block)));
  if (isJsonObject(body['usage'])) emitter.count(body['usage']);
  emitter.stopBecause(reason, asObject(body['additionalModelResponseFields']));
  emitter.finish();
}
