// Creates response headers from those of an earlier response: most values are equal, and comparing one costs a fraction
// of what the runtime needs to validate, copy and store it.
import { ANSWER_HEADERS } from './answer-headers.ts';

/** Headers of an earlier response. */
interface Sent {
  readonly names: readonly string[];
  readonly values: string[];
  readonly headers: Headers;
}

/** By number of headers, because responses of one kind have equally many. */
const sent: (Sent | undefined)[] = [];
/** Maximum number of headers that is cached. */
const MOST = 32;

/**
 * Headers of a response, including those of every response.
 * @param given names in lower case
 * @returns headers to copy immediately, as `Response` does, because the next call changes them. Throws TypeError for
 * invalid headers
 */
export function headersLikeBefore(given: Readonly<Record<string, string>>): Headers {
  const names = Object.keys(given);
  const like = sent[names.length];
  if (!like || !areAlike(names, like.names)) return remembered(names, given);
  const { values, headers } = like;
  for (let at = 0; at < names.length; at++) {
    const name = names[at] ?? '';
    const value = given[name] ?? '';
    if (value === values[at]) continue;
    headers.set(name, value);
    values[at] = value;
  }
  return headers;
}

function areAlike(names: readonly string[], others: readonly string[]): boolean {
  for (let at = 0; at < names.length; at++) if (names[at] !== others[at]) return false;
  return true;
}

function remembered(names: readonly string[], given: Readonly<Record<string, string>>): Headers {
  const headers = new Headers({ ...ANSWER_HEADERS, ...given });
  if (names.length <= MOST) sent[names.length] = { names, values: Object.values(given), headers };
  return headers;
}
