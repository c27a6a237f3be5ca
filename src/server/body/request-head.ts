// Checks of the head of every request before anything looks at it: one host that can be part of an address, and a path.
// Whoever comes after may make a URL of the request's address without asking. Knows no path.
import { GatewayError } from '../../canonical/index.ts';
import type { Handler } from '../../base/runtime/http-server.ts';
import { newGenerationId } from '../../base/runtime/ids.ts';
import { serverFor } from '../client-protocol.ts';
import { errorResponse, type ReplyDependencies } from '../reply.ts';

/** A name, or an IP address, with a port or without (RFC 9110, section 7.2); nothing that only some readers understand. */
const HOST = /^(?:[\w.-]{1,255}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;
/** Good ones that are kept: a gateway has a few names. */
const MOST_KNOWN = 64;
const known = new Set<string>();

/**
 * The same handler behind a check: a head that cannot be used is a 400, and its connection is closed.
 * @param isPlaced true where the runtime has matched the path already: the target is one then
 */
export function withUsableHead(
  deps: Pick<ReplyDependencies, 'log' | 'now'>,
  handler: Handler,
  isPlaced: boolean,
): Handler {
  return (request, connection) => {
    const host = request.headers.get('host');
    // Only HTTP/1.0 lets it away: the runtime refuses anything newer. Health checks of load balancers do so.
    if (host === null) return handler(addressed(request), connection);
    if (known.has(host) || isUsable(host)) {
      if (isPlaced || request.url.startsWith('http')) return handler(request, connection);
      return refuse(deps, request, 'the target of the request must be a path');
    }
    return refuse(deps, request, 'Host: there must be one, a name or an address with or without a port');
  };
}

function isUsable(host: string): boolean {
  const isGood = HOST.test(host) && URL.canParse(`http://${host}`);
  if (isGood && known.size < MOST_KNOWN) known.add(host);
  return isGood;
}

/** The request with an address of its own, whatever the client made of its host. */
function addressed(request: Request): Request {
  const path = request.url.replace(/^https?:\/\/[^/?#]*/i, '');
  const url = `http://gateway${path.startsWith('/') ? path : '/'}`;
  return new Request(URL.canParse(url) ? url : 'http://gateway/', request);
}

function refuse(deps: Pick<ReplyDependencies, 'log' | 'now'>, request: Request, message: string): Response {
  const error = new GatewayError('invalid_request', message);
  const answer = errorResponse(deps, error, newGenerationId(deps.now()), serverFor(addressed(request)));
  answer.headers.set('connection', 'close');
  return answer;
}
