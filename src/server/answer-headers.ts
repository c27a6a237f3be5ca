// Headers of every response of the gateway: not cached by intermediaries, and no content sniffing by browsers.

const NO_SNIFFING = 'x-content-type-options';
const CACHING = 'cache-control';

/** Headers to include when a response is created, which costs a fraction of adding them later. */
export const ANSWER_HEADERS = { [CACHING]: 'no-store', [NO_SNIFFING]: 'nosniff' } as const;

/** Adds the headers to a response. An existing `cache-control`, as streams have, is kept. */
export function markAnswer(answer: Response): Response {
  const { headers } = answer;
  if (headers.has(NO_SNIFFING)) return answer;
  headers.set(NO_SNIFFING, ANSWER_HEADERS[NO_SNIFFING]);
  if (!headers.has(CACHING)) headers.set(CACHING, ANSWER_HEADERS[CACHING]);
  return answer;
}
