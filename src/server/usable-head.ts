// Checks the Host header and the target of every request before any other code sees them. Later code can build URLs
// from the request's address without checking it again.
import { GatewayError } from '../canonical/index.ts';
import type { Handler } from '../base/runtime/http-server.ts';
import { newGenerationId } from '../base/runtime/ids.ts';
import { serverFor } from './client-protocol.ts';
import { errorResponse, type ReplyDependencies } from './reply.ts';

/** A host name or an IP address, with an optional port (RFC 9110, section 7.2). */
const HOST = /^(?:[\w.-]{1,255}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;
/** Valid hosts that are remembered, so that the usual ones are not parsed again. */
const MOST_KNOWN = 64;
const known = new Set<string>();

/**
 * Wraps a handler: a request without a usable Host or target is answered with 400, and its connection is closed.
 * @param isPlaced true if the runtime has already matched the path, so that the target is known to be a path
 */
export function withUsableHead(
  deps: Pick<ReplyDependencies, 'log' | 'now'>,
  handler: Handler,
  isPlaced: boolean,
): Handler {
  return (request, connection) => {
    const host = request.headers.get('host');
    // HTTP/1.0 requests may have no Host, as health checks of load balancers do. The runtime refuses newer ones without it.
    if (host === null) return handler(addressed(request), connection);
    if (known.has(host) || isUsable(host)) {
      if (isPlaced || request.url.startsWith('http')) return handler(request, connection);
      return refuse(deps, request, 'The target of the request must be a path.');
    }
    return refuse(deps, request, 'Host: must be sent once, with a name or an address and optionally a port');
  };
}

function isUsable(host: string): boolean {
  const isGood = HOST.test(host) && URL.canParse(`http://${host}`);
  if (isGood && known.size < MOST_KNOWN) known.add(host);
  return isGood;
}

/** The same request under a fixed host name. */
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
