// Failures of an upstream or of the connection to it, as errors with words for a person. Knows nothing of retries.
import { GatewayError } from '../../canonical/index.ts';
import type { TransportFailure } from '../../upstream/client.ts';
import type { ReceiveFailure } from '../../upstream/receive.ts';

/** Follows the name of the endpoint in a sentence. */
const TRANSPORT_WORDS: Readonly<Record<TransportFailure, string>> = {
  connect: 'could not be reached',
  stale: 'could not be asked over a connection that was used before',
  reset: 'closed the connection without an answer',
  cut: 'cut its answer short',
  protocol: 'broke the HTTP protocol',
};

/** The error of an answer that did not come, or not whole. @param slug of the endpoint @param detail what is wrong with it */
export function receiveError(slug: string, failure: ReceiveFailure, detail: string): GatewayError {
  return new GatewayError('upstream_unavailable', wordsOf(slug, failure, detail));
}

function wordsOf(slug: string, failure: ReceiveFailure, detail: string): string {
  if (failure === 'coding') return detail;
  return failure === 'size' ? `an answer of ${detail}` : `${slug} ${TRANSPORT_WORDS[failure]} (${detail})`;
}

/** The error of an answer that a reader could not take: codecs throw GatewayError for answers that are none. */
export function brokenAnswer(thrown: unknown): GatewayError {
  return thrown instanceof RangeError
    ? new GatewayError('upstream_unavailable', thrown.message)
    : GatewayError.from(thrown);
}
