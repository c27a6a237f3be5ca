// The failures of an upstream that answered 200 and then broke off or wrote nonsense, in one wording for all
// protocols. Knows no body's shape.
import type { CollectedEvents, FinishEvent } from '../canonical/index.ts';
import { GatewayError } from '../canonical/index.ts';
import { shortMessage } from './upstream-error.ts';

/** An answer that cannot be used. @param message what is wrong, as a sentence about the upstream */
export function brokenAnswer(message: string): GatewayError {
  return new GatewayError('upstream_unavailable', message);
}

/** A frame of a stream is no object. @param data what it holds */
export function unreadableFrame(data: string): GatewayError {
  return new GatewayError('upstream_unavailable', 'the upstream sent a frame that is not a JSON object', {
    upstream: { status: 200, body: shortMessage(data) },
  });
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
