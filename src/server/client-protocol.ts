// Detects the protocol of a client where its path serves several or none: by what only one family of clients sends, or by the
// beginning of the path. Answers nothing.
import { mainProtocol, type ServedProtocol, servedProtocols, type ServerCodec } from '../protocols/index.ts';
import { asObject } from '../base/json/index.ts';
import { GatewayError } from '../canonical/index.ts';

/** The protocol that only the client of which a request is speaks; undefined where nothing tells. */
export function protocolOfClient({ headers, url }: Request): ServedProtocol | undefined {
  const head = { header: (name: string) => headers.get(name), url: new URL(url) };
  return servedProtocols.find(({ server }) => server.addresses.isClient?.(head));
}

/** The protocol in which a request is answered that reached nothing. */
export function serverFor(request: Request): ServerCodec {
  return (protocolOfClient(request) ?? mainProtocol).server;
}

/** The protocol in which a client is answered about files, where its own has files; undefined: OpenAI's. */
export function speakerOfFiles(request: Request): ServerCodec | undefined {
  const server = protocolOfClient(request)?.server;
  return server?.files && server;
}

/** Reads a request's headers by lower-case name, also where clients of the protocol may write them into the query. */
export function headersOf(
  request: Request,
  { addresses: { headersInQuery } }: ServerCodec,
): (name: string) => string | null {
  const { headers } = request;
  if (!headersInQuery) return (name) => headers.get(name);
  // Made by the runtime when it is asked for.
  const { url } = request;
  return (name) => {
    const given = headers.get(name);
    const parameter = headersInQuery[name];
    return given !== null || parameter === undefined ? given : new URL(url).searchParams.get(parameter);
  };
}

// Which protocol a request speaks that is only to be explained: its path does not say it.

/**
 * The protocol that `?protocol=` names, or that the body looks like; the main one when nothing tells.
 * @param header reads a request header by lower-case name
 * @throws GatewayError `invalid_request` for a name that clients cannot speak here
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
