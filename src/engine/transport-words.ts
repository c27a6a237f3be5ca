// What a connection did that failed, in words for a person. Knows nothing of retries.
import type { TransportFailure } from '../upstream/client.ts';

/** Follows the name of the endpoint in a sentence. */
export const TRANSPORT_WORDS: Readonly<Record<TransportFailure, string>> = {
  connect: 'could not be reached',
  reset: 'closed the connection without an answer',
  cut: 'cut its answer short',
  protocol: 'broke the HTTP protocol',
};
