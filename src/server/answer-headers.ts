// Headers that every answer of this address has, whoever made it: nothing of it is kept by caches on the way, and no
// browser takes it for something else than it says. Knows no path.

const NO_SNIFFING = 'x-content-type-options';
const CACHING = 'cache-control';

/** For whoever makes an answer: to have them from the start costs a fraction of what it costs to add them. */
export const ANSWER_HEADERS = { [CACHING]: 'no-store', [NO_SNIFFING]: 'nosniff' } as const;

/** The answer, which has them now. A `cache-control` of its own, which streams have, stays. */
export function markAnswer(answer: Response): Response {
  const { headers } = answer;
  if (headers.has(NO_SNIFFING)) return answer;
  headers.set(NO_SNIFFING, ANSWER_HEADERS[NO_SNIFFING]);
  if (!headers.has(CACHING)) headers.set(CACHING, ANSWER_HEADERS[CACHING]);
  return answer;
}
