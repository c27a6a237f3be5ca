// Error messages for failures of upstreams and connections: secrets masked, and summarised for records.
import { GatewayError } from '../../canonical/index.ts';
import type { ErrorSummary } from '../../accounts/ledger/index.ts';
import type { TransportFailure } from '../../upstream/client.ts';
import type { ReceiveFailure } from '../../upstream/ask.ts';

/**
 * Masks secrets in an error. Returns the same error if there are none.
 * @param redact masks secrets in a text
 */
export function redactedError(error: GatewayError, redact: (text: string) => string): GatewayError {
  const { param, code, fault, retryAfterMs, upstream, details, failedGeneration, context, httpStatus } =
    error;
  const message = redact(error.message);
  // The body is relayed to clients of the same protocol, and may contain the key in other places.
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

// Summaries of errors for records.

/** The error without response body and stack. */
export function summariseError(error: GatewayError): ErrorSummary {
  return { kind: error.kind, message: error.message, upstreamStatus: error.upstream?.status ?? null };
}

// Messages for failures of an upstream or of its connection.

/** Follows the endpoint's name in a sentence. */
const TRANSPORT_WORDS: Readonly<Record<TransportFailure, string>> = {
  connect: 'could not be reached',
  stale: 'failed on a reused connection',
  reset: 'closed the connection without a response',
  cut: 'ended its response early',
  protocol: 'violated the HTTP protocol',
};

/**
 * Error for an answer that is missing or incomplete.
 * @param slug of the endpoint
 * @param detail description of the failure
 */
export function receiveError(slug: string, failure: ReceiveFailure, detail: string): GatewayError {
  return new GatewayError('upstream_unavailable', wordsOf(slug, failure, detail));
}

function wordsOf(slug: string, failure: ReceiveFailure, detail: string): string {
  if (failure === 'coding') return detail;
  return failure === 'size' ? `a response of ${detail}` : `${slug} ${TRANSPORT_WORDS[failure]} (${detail})`;
}

/** Error for an answer that a reader could not process. Codecs throw GatewayError for invalid answers. */
export function brokenAnswer(thrown: unknown): GatewayError {
  return thrown instanceof RangeError
    ? new GatewayError('upstream_unavailable', thrown.message)
    : GatewayError.from(thrown);
}
