// Decodes a whole Chat Completion with the decoder for streams.
import type { CodecContext } from '../../protocol.ts';
import type { EventSink } from '../../../canonical/index.ts';
import { asString, isJsonArray, isJsonObject } from '../../../base/json/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import { AnswerDecoder, firstChoice } from './answer-emitter.ts';
import { decodeInlineError } from './decode-error.ts';
import { isFailureReason } from './finish-reason.ts';
import type { WireCompletion } from '../wire-types.ts';

/**
 * Emits the events of a whole answer.
 * @throws GatewayError if the body is an error, is not a completion, or reports that it broke off
 */
export function decodeResponse(body: unknown, sink: EventSink, context: CodecContext): void {
  if (!isJsonObject(body)) throw broken("the upstream's response is not a JSON object", body);
  const error = decodeInlineError(body);
  if (error) throw error;
  const choice = isJsonArray(body['choices']) ? firstChoice(body['choices']) : undefined;
  if (!choice) throw broken("the upstream's response has no choice", body);
  const failure = failureReason(asString(choice.finish_reason));
  if (failure) throw failure;
  const answer = new AnswerDecoder(sink, context);
  answer.take(body as WireCompletion, true);
  answer.finish();
}

/** Returns the error for a finish reason; undefined if the reason is a proper end. */
export function failureReason(word: string | undefined): GatewayError | undefined {
  if (word === undefined || !isFailureReason(word)) return undefined;
  return new GatewayError('upstream_unavailable', `the upstream ended the response early: ${word}`, {
    code: word,
  });
}

function broken(message: string, body: unknown): GatewayError {
  const text = typeof body === 'string' ? body : (JSON.stringify(body) ?? '');
  return new GatewayError('upstream_unavailable', message, {
    upstream: { status: 200, body: text.slice(0, 2000) },
  });
}
