// Headers that every answer of this address has, whoever made it: nothing of it is kept by caches on the way, and no
// browser takes it for something else than it says. Knows no path.
import type { Handler } from '../runtime/http-server.ts';

type Answer = Awaited<ReturnType<Handler>>;

/** The same handler, whose answers have them. A `cache-control` of its own, which streams have, stays. */
export function withAnswerHeaders(handler: Handler): Handler {
  return (request, connection) => {
    const answer = handler(request, connection);
    return answer instanceof Promise ? answer.then(marked) : marked(answer);
  };
}

function marked(answer: Answer): Answer {
  return answer && markAnswer(answer);
}

/** The answer, which has them now. */
export function markAnswer(answer: Response): Response {
  const { headers } = answer;
  headers.set('x-content-type-options', 'nosniff');
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store');
  return answer;
}
