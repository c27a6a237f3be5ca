// The failures of an upstream that answered 200 and then broke off or wrote nonsense, in one wording for all
// protocols. Knows no body's shape.
import { GatewayError } from '../canonical/index.ts';

/** An answer that cannot be used. @param message what is wrong, as a sentence about the upstream */
export function brokenAnswer(message: string): GatewayError {
  return new GatewayError('upstream_unavailable', message);
}

/** The connection ended, and the answer had not. */
export function cutAnswer(): GatewayError {
  return brokenAnswer('the upstream closed the stream before the answer was complete');
}
