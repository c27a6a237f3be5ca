// Decodes the server-sent events of an interaction, and detects the end of the stream. `answer-emitter.ts` interprets
// the events.
import type { EventSink, GatewayError } from '../../../canonical/index.ts';
import { isJsonObject, parseJson } from '../../../base/json/index.ts';
import { cutAnswer, unreadableFrame } from '../../errors/broken-answer.ts';
import type { CodecContext, StreamDecoder } from '../../protocol.ts';
import { AnswerEmitter } from './answer-emitter.ts';

/** Sent after the last event. */
export const TERMINATOR = '[DONE]';

/** Creates a decoder for one stream. After `finish` or `error` it ignores further frames. */
export function decodeStream(sink: EventSink, context: CodecContext): StreamDecoder {
  const emitter = new AnswerEmitter(sink, context);
  const fail = (error: GatewayError): void => {
    if (emitter.over) return;
    emitter.over = true;
    sink.on({ type: 'error', error });
  };
  return {
    frame(_event, data) {
      const json = parseJson(data);
      if (isJsonObject(json)) emitter.take(json);
      else if (data !== TERMINATOR) fail(unreadableFrame(data));
    },
    end: () => fail(cutAnswer()),
  };
}
