// In which protocol an endpoint is spoken to: what its maker or its provider prefers, and in which others it may be
// spoken to just as well. Facts only: the client's own protocol is weighed against them when a request is planned.
import type { CanonicalRequest, ProtocolName } from '../canonical/index.ts';
import type { ActiveProvider } from './active-providers.ts';
import type { Endpoint, Model } from './endpoint.ts';
import { serverFacts } from '../protocols/index.ts';
import { preferredProtocol } from './families/index.ts';

type Speaker = Pick<ActiveProvider, 'protocols' | 'protocolOf' | 'defaultProtocol'>;

/** The protocol for a model when nothing is known of the client. */
export function chooseProtocol(provider: Speaker, name: string): ProtocolName {
  const preferred = dedicated(provider, name) ?? preferredProtocol(name);
  return preferred && provider.protocols.has(preferred) ? preferred : provider.defaultProtocol;
}

/**
 * The other protocols in which the provider serves a model as well as in its first one. None where there is a reason
 * for that one: the provider has a protocol for such models alone, or the family loses something in the others.
 */
export function otherProtocols(provider: Speaker, name: string): readonly ProtocolName[] {
  if (provider.protocols.size < 2) return NONE;
  const first = chooseProtocol(provider, name);
  const others = [...provider.protocols.keys()].filter((protocol) => protocol !== first);
  // Nobody else's requests can be said in these, and their clients' requests in nothing else.
  const own = others.filter((protocol) => serverFacts(protocol).forOwnClients);
  if (dedicated(provider, name) || preferredProtocol(name) === first) return own;
  const forOthers = new Set(provider.protocolOf?.map(({ protocol }) => protocol));
  return others.filter((protocol) => !forOthers.has(protocol));
}

/**
 * The endpoints of a model as a request is sent to them: in the client's own protocol where they serve it as well as
 * any other, for then nothing has to be translated.
 */
export function endpointsFor(
  { endpoints }: Pick<Model, 'endpoints'>,
  { protocol, task }: Pick<CanonicalRequest, 'protocol' | 'task'>,
): readonly Endpoint[] {
  // Embeddings are nobody's protocol.
  if (task === 'embedding' || !endpoints.some(({ speaking }) => speaking)) return endpoints;
  return endpoints.map((endpoint) => endpoint.speaking?.(protocol) ?? endpoint);
}

const NONE: readonly ProtocolName[] = [];

/** The one protocol that the provider has for models of such a name. */
function dedicated({ protocolOf }: Speaker, name: string): ProtocolName | undefined {
  return protocolOf?.find(({ match }) => match.test(name))?.protocol;
}
