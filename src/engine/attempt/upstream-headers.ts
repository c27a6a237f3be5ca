// The headers of requests to one endpoint: the same for all of them, so made once.
import type { Endpoint } from '../../catalog/index.ts';
import type { Protocol } from '../../protocols/index.ts';

type ClientHeaders = Iterable<readonly [name: string, value: string]>;
type Headers = Readonly<Record<string, string>>;

const streamed = new WeakMap<Endpoint, Headers>();
const whole = new WeakMap<Endpoint, Headers>();

/**
 * The same with those of the client's headers that belong to the protocol which both sides speak, e.g. `anthropic-beta`.
 * @param passed their names; undefined when there are none
 */
export function withClientHeaders(
  headers: Headers,
  client: ClientHeaders,
  passed: ReadonlySet<string> | undefined,
): Headers {
  if (passed === undefined) return headers;
  let merged: Record<string, string> | undefined;
  for (const [name, value] of client) if (passed.has(name)) (merged ??= { ...headers })[name] = value;
  return merged ?? headers;
}

/**
 * Header names in lower case, the key among them. The same object for the same endpoint and mode.
 * @param stream true when an event stream is wanted
 */
export function upstreamHeaders(endpoint: Endpoint, protocol: Protocol, stream: boolean): Headers {
  const known = stream ? streamed : whole;
  let headers = known.get(endpoint);
  if (!headers) {
    const { auth } = endpoint;
    headers = {
      'content-type': 'application/json',
      accept: stream ? 'text/event-stream' : 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'dragoman',
      ...protocol.upstream.headers,
      ...endpoint.headers,
      ...(auth ? { [auth.header]: auth.prefix + auth.key.reveal() } : {}),
    };
    known.set(endpoint, headers);
  }
  return headers;
}
