// Where requests to one endpoint go: the same address for all of them in one mode, so made once.
import type { Endpoint } from '../../catalog/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import type { Protocol } from '../../protocols/index.ts';
import type { HostedOperation } from '../../providers/index.ts';

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
    url =
      endpoint.baseUrl +
      (hostedPath(endpoint, stream) ?? upstream.pathFor?.(endpoint.model, stream) ?? upstream.path);
    known.set(endpoint, url);
  }
  return url;
}

/**
 * The path of an operation besides answers, below the base URL.
 * @param own that of the protocol
 * @param hosted the host's own, if it has one
 */
export function operationPath(
  { model }: Pick<Endpoint, 'model'>,
  own: string,
  hosted: HostedOperation | undefined,
): string {
  return hosted ? ofModel(hosted.path, model).replace('{operation}', () => own) : own;
}

function hostedPath({ hosting, model }: Endpoint, stream: boolean): string | undefined {
  return hosting && ofModel(stream ? hosting.streamPath : hosting.path, model);
}

/** A host's path for one model, whose name is one segment of it, whatever it holds. */
function ofModel(path: string, model: string): string {
  if (model === '.' || model === '..')
    throw new GatewayError('not_found', 'there is no model of this name', { param: 'model' });
  // Google's versions stand behind an `@`, which needs no escape.
  const segment = encodeURIComponent(model).replaceAll('%40', '@');
  return path.replace('{model}', () => segment);
}
