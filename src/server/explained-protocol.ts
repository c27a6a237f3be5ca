// Which protocol a request speaks that is only to be explained: its path does not say it.
import { asObject } from '../base/json/index.ts';
import { GatewayError } from '../canonical/index.ts';
import { mainProtocol, servedProtocols, type ServedProtocol } from '../protocols/index.ts';

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
