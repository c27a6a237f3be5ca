// Decodes a whole Responses answer, like a stream without deltas.
import { type EventSink, TEXTS } from '../../../canonical/index.ts';
import { isJsonArray, isJsonObject } from '../../../base/json/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import type { CodecContext } from '../../protocol.ts';
import { decodeStart, emitEnding } from './decode-answer.ts';
import { decodeFailure } from './decode-error.ts';
import { ItemEmitter } from './answer-emitter.ts';

/**
 * Emits the answer in `body`.
 * @throws GatewayError if the answer failed, is not finished, or is not an answer of this protocol
 */
export function decodeResponse(body: unknown, sink: EventSink, context: CodecContext): void {
  if (!isJsonObject(body)) throw notAnAnswer('the body is not a JSON object');
  const { error, status } = body;
  if (status === 'failed' || (error !== undefined && error !== null)) throw decodeFailure(error);
  if (status === 'cancelled') throw decodeFailure({ message: TEXTS.upstreamCancelled });
  if (status === 'queued' || status === 'in_progress')
    throw notAnAnswer(`the response is not complete: its status is ${status}`);
  if (!isJsonArray(body['output'])) throw notAnAnswer('it has no list of output items');
  const start = decodeStart(body);
  sink.on(start);
  const ending = status === 'incomplete' ? 'incomplete' : 'completed';
  emitEnding(ending, body, new ItemEmitter(sink, context), sink, start);
}

function notAnAnswer(reason: string): GatewayError {
  return new GatewayError('upstream_unavailable', `the upstream's reply cannot be used: ${reason}`);
}
