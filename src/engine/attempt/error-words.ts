// Failures of upstreams and of connections in words: without the secrets that some echo, and summed up for records.
import { GatewayError } from '../../canonical/index.ts';
import type { ErrorSummary } from '../../accounts/ledger/index.ts';
import type { TransportFailure } from '../../upstream/client.ts';
import type { ReceiveFailure } from '../../upstream/ask.ts';

/** The same error where there was nothing to mask. @param redact masks secrets in a text */
export function redactedError(error: GatewayError, redact: (text: string) => string): GatewayError {
  const { param, code, fault, retryAfterMs, upstream, details, failedGeneration, context, httpStatus } =
    error;
  const message = redact(error.message);
  // The body goes to the client as it is where it is in the client's protocol: it may name the key elsewhere.
  const shown = upstream && {
    ...upstream,
    body: redact(upstream.body),
    requestId: upstream.requestId && redact(upstream.requestId),
  };
  const isClean = shown?.body === upstream?.body && shown?.requestId === upstream?.requestId;
  if (message === error.message && isClean) return error;
  return new GatewayError(error.kind, message, {
    param,
    code,
    fault,
    retryAfterMs,
    upstream: shown,
    context,
    details,
    httpStatus,
    failedGeneration: failedGeneration === undefined ? undefined : redact(failedGeneration),
  });
}

// Summary of an error for records.

/** The error without its bytes and its stack. */
export function summariseError(error: GatewayError): ErrorSummary {
  return { kind: error.kind, message: error.message, upstreamStatus: error.upstream?.status ?? null };
}

// Failures of an upstream or of the connection to it, as errors with words for a person. Knows nothing of retries.

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
