// The failures of an upstream that answered 200 and then broke off or wrote nonsense, in one wording for all
// protocols. Knows no body's shape.
import type { CollectedEvents, FinishEvent, JsonValue } from '../canonical/index.ts';
import { GatewayError, MAX_ANSWER_DEPTH, nestsDeeper, parseJson } from '../canonical/index.ts';
import { shortMessage } from './upstream-error.ts';

/** An answer that cannot be used. @param message what is wrong, as a sentence about the upstream */
export function brokenAnswer(message: string): GatewayError {
  return new GatewayError('upstream_unavailable', message);
}

/** A frame of a stream is no object. @param data what it holds */
export function unreadableFrame(data: string): GatewayError {
  const what = nestsDeeper(data, MAX_ANSWER_DEPTH) ? NESTED : 'that is not a JSON object';
  return new GatewayError('upstream_unavailable', `the upstream sent a frame ${what}`, {
    upstream: { status: 200, body: shortMessage(data) },
  });
}

const NESTED = `that is nested more than ${MAX_ANSWER_DEPTH} levels deep`;

/**
 * Parses a whole answer; undefined when it is not JSON.
 * @throws GatewayError that it is nested too deeply
 */
export function parseAnswer(body: string): JsonValue | undefined {
  const json = parseJson(body);
  if (json === undefined && nestsDeeper(body, MAX_ANSWER_DEPTH))
    throw brokenAnswer(`the upstream sent an answer ${NESTED}`);
  return json;
}

/** The connection ended, and the answer had not. */
export function cutAnswer(): GatewayError {
  return brokenAnswer('the upstream closed the stream before the answer was complete');
}

/**
 * The end of a collected answer.
 * @throws GatewayError the answer's own error, or that it never ended
 */
export function requireFinish(events: CollectedEvents): FinishEvent {
  if (events.error) throw events.error;
  if (!events.finish) throw brokenAnswer('the answer ended before it was complete');
  return events.finish;
}
