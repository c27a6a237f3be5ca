// Errors for upstreams that answered 200 and then broke off or sent invalid content. One wording for all protocols.
import type { JsonValue } from '../../base/json/index.ts';
import type { CollectedEvents, FinishEvent } from '../../canonical/index.ts';
import {
  MAX_ANSWER_DEPTH,
  MAX_ANSWER_NODES,
  nestsDeeper,
  opensMore,
  parseJson,
} from '../../base/json/index.ts';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import { shortMessage } from './upstream-error.ts';

/** Error for an answer that cannot be used. @param message what is wrong, as a sentence about the upstream */
export function brokenAnswer(message: string): GatewayError {
  return new GatewayError('upstream_unavailable', message);
}

/** Error for a stream frame that is not a JSON object. @param data the frame's data */
export function unreadableFrame(data: string): GatewayError {
  const what = tooComplex(data) ?? 'that is not a JSON object';
  return new GatewayError('upstream_unavailable', `the upstream sent a frame ${what}`, {
    upstream: { status: 200, body: shortMessage(data) },
  });
}

/** Reason why a text was not parsed; undefined if it was parsed. */
function tooComplex(text: string): string | undefined {
  if (nestsDeeper(text, MAX_ANSWER_DEPTH)) return `that is nested more than ${MAX_ANSWER_DEPTH} levels deep`;
  if (opensMore(text, MAX_ANSWER_NODES)) return `of more than ${MAX_ANSWER_NODES} objects and arrays`;
  return undefined;
}

/**
 * Parses a whole answer.
 * @returns undefined if it is not JSON
 * @throws GatewayError if it is nested too deeply or has too many values
 */
export function parseAnswer(body: string): JsonValue | undefined {
  const json = parseJson(body);
  const why = json === undefined ? tooComplex(body) : undefined;
  if (why !== undefined) throw brokenAnswer(`the upstream sent a response ${why}`);
  return json;
}

/** Error for a connection that ended before the answer did. */
export function cutAnswer(): GatewayError {
  return brokenAnswer('the upstream closed the stream before the response was complete');
}

/**
 * Returns the end of a collected answer.
 * @throws GatewayError the answer's own error, or an error saying that it never ended
 */
export function requireFinish(events: CollectedEvents): FinishEvent {
  if (events.error) throw events.error;
  if (!events.finish) throw brokenAnswer(TEXTS.incomplete);
  return events.finish;
}
