// Where requests to one endpoint go: the same address for all of them in one mode, so made once.
import type { Endpoint } from '../catalog/index.ts';
import type { Protocol } from '../protocols/index.ts';

const streamed = new WeakMap<Endpoint, string>();
const whole = new WeakMap<Endpoint, string>();

/**
 * The address of an answer. Throws GatewayError `not_found` for a model whose name cannot stand in one.
 * @param stream true when an event stream is wanted
 * @param path of another operation
 */
export function upstreamUrl(
  endpoint: Endpoint,
  { upstream }: Protocol,
  stream: boolean,
  path?: string,
): string {
  if (path !== undefined) return endpoint.baseUrl + path;
  const known = stream ? streamed : whole;
  let url = known.get(endpoint);
  if (url === undefined) {
    url = endpoint.baseUrl + (upstream.pathFor?.(endpoint.model, stream) ?? upstream.path);
    known.set(endpoint, url);
  }
  return url;
}
