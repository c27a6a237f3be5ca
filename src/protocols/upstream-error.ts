// What the error answers of all upstreams have in common, whatever their protocol: what a status says, whose fault a
// kind is, how long to wait, and words that must be cut. Knows no body's shape.
import type { ErrorKind, Fault } from '../canonical/index.ts';
import { ERROR_KINDS, isCallersStatus } from '../canonical/index.ts';

/** Longest message that is kept, in characters: some servers repeat the whole prompt, which is not for records. */
const LONGEST_MESSAGE = 2000;

/** The upstream's words, cut. */
export function shortMessage(message: string): string {
  return message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message;
}

/**
 * Milliseconds from `retry-after-ms` (OpenAI's), or from `retry-after` in seconds or as an HTTP date (RFC 9110,
 * 10.2.3). A date counts from the answer's own `date`, since a codec has no clock.
 * @param header reads a response header by lower-case name
 * @returns undefined when neither says anything
 */
export function retryAfterMs(header: (name: string) => string | null): number | undefined {
  const exact = nonNegative(header('retry-after-ms'));
  if (exact !== undefined) return exact;
  const after = header('retry-after');
  if (after === null) return undefined;
  const seconds = nonNegative(after);
  if (seconds !== undefined) return Math.round(seconds * 1000);
  const wait = Date.parse(after) - Date.parse(header('date') ?? '');
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
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
    default:
      return isCallersStatus(status) ? 'invalid_request' : 'upstream_unavailable';
  }
}

/** Whose fault an upstream's error is: refused credentials are the operator's, so another endpoint may serve. */
export function faultOfKind(kind: ErrorKind): Fault {
  return kind === 'authentication' || kind === 'permission' ? 'upstream' : ERROR_KINDS[kind].fault;
}

function nonNegative(text: string | null): number | undefined {
  if (text === null || text.trim() === '') return undefined;
  const value = Number(text);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}
