// Which protocol a request speaks that is only to be explained: its path does not say it.
import { asObject, GatewayError, type JsonObject, type ProtocolName } from '../canonical/index.ts';
import { protocols, type Protocol, type ServerCodec } from '../protocols/index.ts';
import { hybridChat } from './hybrid-chat.ts';

export type ServedProtocol = Protocol & { readonly server: ServerCodec };

/** Reads a request header by lower-case name. */
type ReadHeader = (name: string) => string | null;

/** What only the requests of one protocol have. */
const TELLING: readonly (readonly [
  isTold: (body: JsonObject, header: ReadHeader) => boolean,
  name: ProtocolName,
])[] = [
  [(body) => Object.hasOwn(body, 'input'), 'openai-responses'],
  [(body) => Object.hasOwn(body, 'contents'), 'gemini'],
  [isMessages, 'anthropic-messages'],
];

/** Chat Completions has `messages` and `max_tokens` too, but neither a header of its own nor a `system` beside them. */
function isMessages(body: JsonObject, header: ReadHeader): boolean {
  if (!Object.hasOwn(body, 'messages')) return false;
  if (header('anthropic-version') !== null) return true;
  return Object.hasOwn(body, 'max_tokens') && Object.hasOwn(body, 'system');
}

/**
 * The protocol that `?protocol=` names, or that the body looks like; Chat Completions when nothing tells.
 * Throws GatewayError `invalid_request` for a name that clients cannot speak here.
 */
export function explainedProtocol(named: string | null, body: unknown, header: ReadHeader): ServedProtocol {
  const served = protocols.filter(isServed).map(asServed);
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
  const telling = TELLING.find(([isTold]) => isTold(asObject(body), header));
  const found = find(telling?.[1] ?? 'openai-chat');
  if (!found) throw new TypeError('openai-chat has no server side');
  return found;
}

function isServed(protocol: Protocol): protocol is ServedProtocol {
  return protocol.server !== undefined;
}

/** Each as its path speaks it. */
function asServed(protocol: ServedProtocol): ServedProtocol {
  return protocol.name === hybridChat.name ? hybridChat : protocol;
}
