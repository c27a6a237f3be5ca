// Headers of whole answers, made out of those of an answer before: most values are the same, and to compare one costs a
// fraction of what it costs the runtime to check, copy and place it.
import { ANSWER_HEADERS } from './answer-headers.ts';

/** Headers of an answer that went out. */
interface Sent {
  readonly names: readonly string[];
  readonly values: string[];
  readonly headers: Headers;
}

/** By how many there were: answers of one kind have as many. */
const sent: (Sent | undefined)[] = [];
/** Answers with more than that are not remembered; their own limits of headers keep them below. */
const MOST = 32;

/**
 * The headers of an answer, with those that every answer has.
 * @param given names in lower case
 * @returns to be copied at once, as a `Response` does: the next call changes them. Throws TypeError for what is no header
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
