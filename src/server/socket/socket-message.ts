// Parses client messages on the WebSocket of `/responses` (OpenAI guide "WebSocket mode", 2026-11).
import { asObject, isJsonObject, type JsonObject } from '../../base/json/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import { parseBody } from '../body/body.ts';

export interface CreateMessage {
  /** Name of the lane. Undefined: the unnamed lane. */
  readonly streamId: string | undefined;
  /** The request as a body of `POST /responses`; it always streams. */
  readonly body: JsonObject;
  /** False: generates nothing, and only returns an id to continue from. */
  readonly generate: boolean;
}

/** Valid lane names. */
const STREAM_ID = /^[\w.-]{1,256}$/;

/** Parses a message. Null: it needs no response. @throws GatewayError `invalid_request` for an invalid message */
export function readMessage(message: string | Uint8Array): CreateMessage | null {
  if (typeof message !== 'string') throw wrong(undefined, 'Send text messages, not binary ones.');
  const { json } = parseBody(Buffer.from(message));
  if (!isJsonObject(json)) throw wrong(undefined, 'A message must be a JSON object.');
  const { type, stream_id: streamId, generate, ...body } = json;
  // An acknowledgement sent by Codex.
  if (type === 'response.processed') return null;
  if (streamId !== undefined && (typeof streamId !== 'string' || !STREAM_ID.test(streamId))) {
    throw wrong(
      'stream_id',
      'must have 1 to 256 characters and only letters, digits, underscores, hyphens and periods',
      'invalid_stream_id',
    );
  }
  if (type !== 'response.create') {
    throw wrong(
      'type',
      `must be response.create; ${JSON.stringify(type ?? null).slice(0, 100)} is not supported`,
    );
  }
  return { streamId, body: { ...body, stream: true }, generate: generate !== false };
}

/** The lane of a message that is refused, so that its client knows which turn failed. Undefined also if it is unreadable. */
export function laneOf(message: string | Uint8Array): string | undefined {
  if (typeof message !== 'string') return undefined;
  try {
    const { stream_id: streamId } = asObject(parseBody(Buffer.from(message)).json);
    return typeof streamId === 'string' && STREAM_ID.test(streamId) ? streamId : undefined;
  } catch {
    return undefined;
  }
}

function wrong(param: string | undefined, message: string, code?: string): GatewayError {
  return new GatewayError('invalid_request', param === undefined ? message : `${param}: ${message}`, {
    param,
    code,
  });
}
