// Background mode of the Responses API (OpenAI's guide "Background mode", 2026-11): answers that are queued, in
// progress or cancelled, and streams that start before the run.
import { eventFrame } from '../../base/lib/event-stream.ts';
import { isJsonObject, type JsonObject } from '../../base/json/index.ts';
import type { AnswerContext, BackgroundCodec, BackgroundFailure } from '../protocol.ts';
import { editMembers } from '../relay/json-splice.ts';
import { encodeFailure, encodeResponseObject } from './answers/encode-response-object.ts';

/** The first match is the event's own number: inside strings, quotes are escaped. */
const NUMBER = /"sequence_number":\s*\d+/;
const CREATED = 'event: response.created\n';
const QUEUED = 'event: response.queued\n';

export const background: BackgroundCodec = {
  asks: (body) => isJsonObject(body) && body['background'] === true,
  runBody: (body) => editMembers(body, { set: { stream: true } }),
  queued: (context: AnswerContext) =>
    encodeResponseObject(context, { type: 'start' }, { status: 'queued' }, [], undefined),
  withStatus,
  opening: (queued, first) => [
    frame('response.created', first, queued),
    frame('response.queued', first + 1, queued),
  ],
  ending: (answer, number) => frame(`response.${String(answer['status'])}`, number, answer),
  failure: encodeFailure,
  renumbered(text, number) {
    if (text.startsWith(CREATED) || text.startsWith(QUEUED)) return null;
    return text.replace(NUMBER, `"sequence_number":${number}`);
  },
};

function withStatus(queued: JsonObject, status: string, failure?: BackgroundFailure): JsonObject {
  return { ...queued, status, error: failure ? { code: failure.code, message: failure.message } : null };
}

function frame(type: string, sequence_number: number, response: JsonObject): string {
  return eventFrame(type, JSON.stringify({ type, sequence_number, response }));
}
