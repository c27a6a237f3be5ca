// Responses that the gateway makes without a run of the engine, sent whole or as a stream of events.
import { EVENT_STREAM_TYPE } from '../base/lib/event-stream.ts';
import type { JsonObject } from '../base/json/index.ts';
import {
  Collector,
  INCLUDABLE,
  NO_USAGE,
  type CanonicalRequest,
  type CompactionItem,
} from '../canonical/index.ts';
import type { Client } from '../engine/index.ts';
import { newId } from '../base/runtime/ids.ts';
import { keepingProtocol } from '../protocols/index.ts';
import { storedItems } from './routes/state-routes.ts';

export interface ResponseFacts {
  /** The generation's id. */
  readonly id: string;
  /** The gateway's id of the model. */
  readonly model: string;
  /** Unix seconds. */
  readonly createdSeconds: number;
  readonly completedSeconds: number;
}

/** A complete response to a request with these output items and no usage. */
export function makeResponse(
  request: CanonicalRequest,
  facts: ResponseFacts,
  items: readonly CompactionItem[],
): JsonObject {
  const collector = new Collector();
  collector.on({ type: 'start' });
  items.forEach((item, index) => {
    collector.on({ type: 'open', index, item });
    collector.on({ type: 'close', index });
  });
  collector.on({ type: 'usage', usage: NO_USAGE });
  collector.on({ type: 'finish', reason: 'stop' });
  const context = { ...facts, request, reasoningContentMirror: false };
  return keepingProtocol.server.encodeResponse(collector.result(), context);
}

/** Sends a response in the form that the client requested. @param headers in addition to those of the form */
export function sendResponse(
  client: Client,
  response: JsonObject,
  stream: boolean,
  headers: Readonly<Record<string, string>>,
): void {
  if (!stream) {
    const whole = { ...headers, 'content-type': 'application/json' };
    return client.respond(200, whole, JSON.stringify(response));
  }
  const opened = client.openStream({
    ...headers,
    'content-type': EVENT_STREAM_TYPE,
    'cache-control': 'no-store, no-transform',
  });
  const nowSeconds = (): number => Number(response['created_at']);
  opened.write(storedItems.replay(response, INCLUDABLE, { newId, nowSeconds }).join(''), 'text');
  opened.end();
}
