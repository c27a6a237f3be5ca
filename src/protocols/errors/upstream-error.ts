// Rules for upstream errors that all protocols share: the kind by HTTP status, the party at fault, and the message.
import {
  ERROR_KINDS,
  type ErrorKind,
  type Fault,
  isCallersStatus,
  type UpstreamFailure,
} from '../../canonical/index.ts';
import { asObject, asString, parseJson } from '../../base/json/index.ts';

export { retryAfterMs } from '../../base/lib/retry-after.ts';

/** Maximum characters of a stored message: some servers repeat the whole prompt, which must not be recorded. */
const LONGEST_MESSAGE = 2000;

/** Returns the upstream's message, shortened and without the request id. */
export function shortMessage(message: string): string {
  const isLong = message.length > LONGEST_MESSAGE;
  return withoutRequestId(isLong ? `${message.slice(0, LONGEST_MESSAGE)}…` : message);
}

/** Creates the error with the upstream's original message. @param header reads a response header by lower-case name */
export function upstreamFailure(
  status: number,
  body: string,
  header: (name: string) => string | null,
): UpstreamFailure {
  return { status, body, requestId: requestIdOf(header, body) };
}

/** Returns the kind of an error of which only the HTTP status is understood. */
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
    // Sent by Cloudflare, which fronts many servers.
    case 524:
      return 'timeout';
    case 409:
      return 'conflict';
    case 413:
      return 'too_large';
    case 429:
      return 'rate_limited';
    // The server lacks the operation, which says nothing about its health.
    case 501:
      return 'unsupported';
    default:
      return isCallersStatus(status) ? 'invalid_request' : 'upstream_unavailable';
  }
}

/** Returns the party at fault. Refused credentials are the operator's, so another endpoint may serve the request. */
export function faultOfKind(kind: ErrorKind): Fault {
  return kind === 'authentication' || kind === 'permission' ? 'upstream' : ERROR_KINDS[kind].fault;
}

// Request ids of upstreams, from a header, the body or the message of an error. They are recorded for support requests
// to the vendor. The client's message does not contain them: clients get the gateway's own id.

/**
 * Headers in lower case: OpenAI ("Debugging requests", 2026-11) and most others, Anthropic ("Errors", 2026-11), AWS
 * ("Common errors" of its API references), Azure ("API Management policies", and its resource providers).
 */
const HEADERS = ['x-request-id', 'request-id', 'x-amzn-requestid', 'apim-request-id', 'x-ms-request-id'];

const ID = /^[\w.:=+/-]{1,128}$/;

/**
 * Messages of OpenAI ("Please include the request ID … in your message") and of gateways in front of others ("(request
 * id: …)").
 */
const SAID =
  /[\s,;(]{0,4}(?:please (?:include|provide|quote) the )?\brequest[ _-]?id(?: is)?[:= ]{1,3}["'`]?([\w-]{6,128})["'`]?(?: in your \w+)?\.?\)?/gi;

/**
 * Returns the request id, if it can be found.
 * @param header reads a response header by lower-case name
 * @param body text of the answer
 */
function requestIdOf(header: (name: string) => string | null, body: string): string | undefined {
  for (const name of HEADERS) {
    const id = header(name);
    if (id !== null && ID.test(id)) return id;
  }
  const member = asString(asObject(parseJson(body))['request_id']);
  return member !== undefined && ID.test(member) ? member : undefined;
}

/** Removes the id and the request to pass it on from a message. Only words with a digit count as ids. */
function withoutRequestId(words: string): string {
  const rest = words.replace(SAID, (said, id: string) => (/\d/.test(id) ? '' : said)).trim();
  return rest === '' ? words : rest;
}
