// Detects the protocol of a client when its path serves several or none, from headers specific to one family of clients
// or from the path prefix.
import { mainProtocol, type ServedProtocol, servedProtocols, type ServerCodec } from '../protocols/index.ts';
import { asObject } from '../base/json/index.ts';
import { GatewayError } from '../canonical/index.ts';

/** Protocol of the client, if its headers identify it. Undefined: unknown. */
export function protocolOfClient({ headers, url }: Request): ServedProtocol | undefined {
  const head = { header: (name: string) => headers.get(name), url: new URL(url) };
  return servedProtocols.find(({ server }) => server.addresses.isClient?.(head));
}

/** Protocol for responses to requests that reached no route. */
export function serverFor(request: Request): ServerCodec {
  return (protocolOfClient(request) ?? mainProtocol).server;
}

/** Protocol for responses about files, if the client's protocol has files. Undefined: OpenAI's. */
export function speakerOfFiles(request: Request): ServerCodec | undefined {
  const server = protocolOfClient(request)?.server;
  return server?.files && server;
}

/** Reads request headers by lower-case name, including those that the protocol permits in the query. */
export function headersOf(
  request: Request,
  { addresses: { headersInQuery } }: ServerCodec,
): (name: string) => string | null {
  const { headers } = request;
  if (!headersInQuery) return (name) => headers.get(name);
  // The runtime creates it on access.
  const { url } = request;
  return (name) => {
    const given = headers.get(name);
    const parameter = headersInQuery[name];
    return given !== null || parameter === undefined ? given : new URL(url).searchParams.get(parameter);
  };
}

// Protocol of requests that are only explained, because their path does not say it.

/**
 * The protocol named by `?protocol=`, or detected from the body; otherwise the main one.
 * @param header reads a request header by lower-case name
 * @throws GatewayError `invalid_request` for an unsupported name
 */
export function explainedProtocol(
  named: string | null,
  body: unknown,
  header: (name: string) => string | null,
): ServedProtocol {
  if (named !== null) {
    const found = servedProtocols.find(({ name }) => name === named);
    if (found) return found;
    throw new GatewayError(
      'invalid_request',
      `protocol: must be one of ${servedProtocols.map(({ name }) => name).join(', ')}`,
      { param: 'protocol' },
    );
  }
  const given = asObject(body);
  return servedProtocols.find(({ server }) => server.addresses.looksOwn?.(given, header)) ?? mainProtocol;
}
