// Encodes events of an interaction's stream, and its end, as text.
import { eventFrame } from '../../../base/lib/event-stream.ts';
import type { JsonObject } from '../../../base/json/index.ts';
import type { GatewayError } from '../../../canonical/index.ts';
import { TERMINATOR } from './decode-stream.ts';

/** Returns a frame, including its blank line. */
export function encodeEvent(event_type: string, members: JsonObject): string {
  return eventFrame(event_type, JSON.stringify({ event_type, ...members }));
}

/** Returns the last event and the terminator. */
export function encodeEnd(event_type: string, members: JsonObject): string {
  return `${encodeEvent(event_type, members)}event: done\ndata: ${TERMINATOR}\n\n`;
}

/** Returns the members of an `error` event. */
export function encodeFailure({ code, kind, message }: GatewayError): JsonObject {
  return { code: code ?? kind, message };
}
