// Id that an upstream gives to a request that it refused: in a header, in a member of the body or in the words of the
// error. It is for the records and for whoever asks the vendor; a client that reads the words has an id of its own.
import { asObject, asString, parseJson } from '../base/json/index.ts';

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
export function requestIdOf(header: (name: string) => string | null, body: string): string | undefined {
  for (const name of HEADERS) {
    const id = header(name);
    if (id !== null && ID.test(id)) return id;
  }
  const member = asString(asObject(parseJson(body))['request_id']);
  return member !== undefined && ID.test(member) ? member : undefined;
}

/** The words without the id, and without what asks to pass it on. An id has a digit; other words are no id. */
export function withoutRequestId(words: string): string {
  const rest = words.replace(SAID, (said, id: string) => (/\d/.test(id) ? '' : said)).trim();
  return rest === '' ? words : rest;
}
