// Errors of all upstreams, as far as they are alike, whatever their protocol: what a status says, whose fault a
// kind is, how long to wait, and words that must be cut. Knows no body's shape.
import type { ErrorKind, Fault, UpstreamFailure } from '../canonical/index.ts';
import { ERROR_KINDS, isCallersStatus } from '../canonical/index.ts';

import { requestIdOf, withoutRequestId } from './request-id.ts';

export { retryAfterMs } from '../base/lib/retry-after.ts';

/** Longest message that is kept, in characters: some servers repeat the whole prompt, which is not for records. */
const LONGEST_MESSAGE = 2000;

/** The upstream's words, cut, and without what it calls the request. */
export function shortMessage(message: string): string {
  const isLong = message.length > LONGEST_MESSAGE;
  return withoutRequestId(isLong ? `${message.slice(0, LONGEST_MESSAGE)}…` : message);
}

/**
 * The upstream's own words, as they are.
 * @param header reads a response header by lower-case name
 */
export function upstreamFailure(
  status: number,
  body: string,
  header: (name: string) => string | null,
): UpstreamFailure {
  return { status, body, requestId: requestIdOf(header, body) };
}

/** The kind of an error of which nothing but the HTTP status is understood. */
export function kindOfStatus(status: number): ErrorKind {
  switch (status) {
    case 401:
      return 'authentication';
    case 402:
      return 'quota';
    case 403:
      return 'permission';
    case 404:
    case 410:
      return 'not_found';
    case 408:
    case 504:
    // Cloudflare's, in front of many servers.
    case 524:
      return 'timeout';
    case 409:
      return 'conflict';
    case 413:
      return 'too_large';
    case 429:
      return 'rate_limited';
    // The server has no such operation: that says nothing of its health.
    case 501:
      return 'unsupported';
    default:
      return isCallersStatus(status) ? 'invalid_request' : 'upstream_unavailable';
  }
}

/** Party at fault for an upstream's error: refused credentials are the operator's, so another endpoint may serve. */
export function faultOfKind(kind: ErrorKind): Fault {
  return kind === 'authentication' || kind === 'permission' ? 'upstream' : ERROR_KINDS[kind].fault;
}
