// Errors of all upstreams, as far as they are alike, whatever their protocol: what a status says, whose fault a
// kind is, how long to wait, and words that must be cut. Knows no body's shape.
import {
  ERROR_KINDS,
  type ErrorKind,
  type Fault,
  isCallersStatus,
  type UpstreamFailure,
} from '../canonical/index.ts';
import { asObject, asString, parseJson } from '../base/json/index.ts';

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

// Id that an upstream gives to a request that it refused: in a header, in a member of the body or in the words of the
// error. It is for the records and for whoever asks the vendor; a client that reads the words has an id of its own.

/**
 * Headers, in lower case: OpenAI's ("Debugging requests", 2026-11) and most others'; Anthropic's ("Errors", 2026-11); AWS's
 * ("Common errors" of its API references); Azure's ("API Management policies", and its resource providers').
 */
const HEADERS = ['x-request-id', 'request-id', 'x-amzn-requestid', 'apim-request-id', 'x-ms-request-id'];

const ID = /^[\w.:=+/-]{1,128}$/;

/** As OpenAI ("Please include the request ID … in your message"), and gateways in front of others ("(request id: …)"). */
const SAID =
  /[\s,;(]{0,4}(?:please (?:include|provide|quote) the )?\brequest[ _-]?id(?: is)?[:= ]{1,3}["'`]?([\w-]{6,128})["'`]?(?: in your \w+)?\.?\)?/gi;

/**
 * The id, as far as it can be found.
 * @param header reads a response header by lower-case name
 * @param body the answer's text
 */
function requestIdOf(header: (name: string) => string | null, body: string): string | undefined {
  for (const name of HEADERS) {
    const id = header(name);
    if (id !== null && ID.test(id)) return id;
  }
  const member = asString(asObject(parseJson(body))['request_id']);
  return member !== undefined && ID.test(member) ? member : undefined;
}

/** The words without the id, and without what asks to pass it on. An id has a digit; other words are no id. */
function withoutRequestId(words: string): string {
  const rest = words.replace(SAID, (said, id: string) => (/\d/.test(id) ? '' : said)).trim();
  return rest === '' ? words : rest;
}
