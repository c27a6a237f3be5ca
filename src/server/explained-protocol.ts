// Which protocol a request speaks that is only to be explained: its path does not say it.
import { GatewayError, type ProtocolName } from '../canonical/index.ts';
import { protocols, type Protocol, type ServerCodec } from '../protocols/index.ts';

export type ServedProtocol = Protocol & { readonly server: ServerCodec };

/** Members that only the requests of one protocol have. */
const TELLING: readonly (readonly [string, ProtocolName])[] = [
  ['input', 'openai-responses'],
  ['contents', 'gemini'],
];

/**
 * The protocol that `?protocol=` names, or that the body looks like; Chat Completions when nothing tells.
 * Throws GatewayError `invalid_request` for a name that clients cannot speak here.
 */
export function explainedProtocol(named: string | null, body: unknown): ServedProtocol {
  const served = protocols.filter(isServed);
  const find = (name: string): ServedProtocol | undefined =>
    served.find((protocol) => protocol.name === name);
  if (named !== null) {
    const found = find(named);
    if (found) return found;
    throw new GatewayError(
      'invalid_request',
      `protocol: must be one of ${served.map(({ name }) => name).join(', ')}`,
      { param: 'protocol' },
    );
  }
  const members = typeof body === 'object' && body !== null ? body : {};
  const telling = TELLING.find(([member, name]) => Object.hasOwn(members, member) && find(name));
  const found = find(telling?.[1] ?? 'openai-chat');
  if (!found) throw new TypeError('openai-chat has no server side');
  return found;
}

function isServed(protocol: Protocol): protocol is ServedProtocol {
  return protocol.server !== undefined;
}
