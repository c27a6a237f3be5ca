// Tells a client that got nothing yet why it gets no answer: in its own protocol, or in the upstream's own words
// where those are its protocol already.
import type { GatewayError } from '../canonical/index.ts';
import { headerText, type Generation } from './generation.ts';

/**
 * HTTP status of the error as the whole answer: the upstream's own where it was the only one asked and the caller is at
 * fault. Only a status that says so: an upstream may write any three digits.
 */
export function refusalStatus({ attempts }: Generation, error: GatewayError): number {
  return callersRefusal(attempts.length, error)?.status ?? error.status;
}

function callersRefusal(attempts: number, { fault, upstream }: GatewayError): GatewayError['upstream'] {
  if (fault !== 'client' || attempts !== 1 || !upstream) return undefined;
  return upstream.status >= 400 && upstream.status < 500 ? upstream : undefined;
}

/** Sends the error as the whole answer. */
export function refuse(generation: Generation, error: GatewayError): void {
  const { call, id, attempts } = generation;
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    ...generation.headers(attempts.at(-1)),
    ...retryHeaders(error),
  };
  // Failover has been tried here: an SDK that retried would only repeat it. Nor does our own 409 go away by itself.
  if (attempts.length > 0 ? error.fault !== 'client' : error.kind === 'conflict')
    headers['x-should-retry'] = 'false';
  const upstream = callersRefusal(attempts.length, error);
  // Those who host another vendor's protocol have errors of their own form.
  if (upstream && attempts[0]?.lane === 'relay' && !attempts[0].endpoint.hosting) {
    headers['content-type'] = headerText(upstream.contentType ?? 'application/json');
    return call.client.respond(upstream.status, headers, upstream.body, 'text');
  }
  const { status, body } = call.protocol.server.encodeError(error, id);
  call.client.respond(upstream?.status ?? status, headers, JSON.stringify(body), 'text');
}

/** `retry-after` in whole seconds and in milliseconds, where a wait is known. */
function retryHeaders(error: GatewayError): Record<string, string> {
  if (error.retryAfterMs === undefined) return {};
  return {
    'retry-after': String(Math.ceil(error.retryAfterMs / 1000)),
    'retry-after-ms': String(error.retryAfterMs),
  };
}
