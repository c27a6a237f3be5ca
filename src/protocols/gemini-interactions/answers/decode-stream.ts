// Reads the server-sent events of an interaction. Owns the end of the stream; what the events mean is in answer-emitter.ts.
import type { EventSink, GatewayError } from '../../../canonical/index.ts';
import { isJsonObject, parseJson } from '../../../base/json/index.ts';
import { cutAnswer, unreadableFrame } from '../../broken-answer.ts';
import type { CodecContext, StreamDecoder } from '../../protocol.ts';
import { AnswerEmitter } from './answer-emitter.ts';

/** Behind the last event. */
export const TERMINATOR = '[DONE]';

/** A decoder for one stream. After `finish` or `error` it ignores whatever follows. */
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
