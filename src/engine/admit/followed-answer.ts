// A request that goes on from an answer which an upstream keeps: where that is, and that nobody else is asked. The records
// know both, and whose it is.
import { type CanonicalRequest, type FollowedAnswer, GatewayError } from '../../canonical/index.ts';
import type { LedgerStore } from '../../accounts/ports/index.ts';
import type { ApiCall } from '../call.ts';
import { findRemote } from '../remote-answer.ts';

/**
 * The request with what it goes on from.
 * @throws GatewayError `not_found` for an id that is unknown, another project's, or of an answer that nobody keeps
 */
export async function withFollowed(
  request: CanonicalRequest,
  { id, path }: FollowedAnswer,
  { principal, protocol }: Pick<ApiCall, 'principal' | 'protocol'>,
  ledger: LedgerStore,
): Promise<CanonicalRequest> {
  const found = await findRemote(id, principal.projectId, protocol.name, ledger);
  if (!found)
    throw new GatewayError('not_found', `${path}: '${id.slice(0, 100)}' not found.`, { param: path });
  const { provider, upstreamId } = found;
  const { routing } = request.gateway;
  const asked = routing?.only;
  const names = asked ? asked.names.filter((name) => isOf(provider, name)) : [provider];
  // Another account has never heard of it; a wish for others alone cannot be granted, and their endpoints say so.
  const only = asked && names.length === 0 ? asked : { path: asked?.path ?? path, names };
  return {
    ...request,
    follows: { id, path, answer: { provider, upstreamId } },
    gateway: { ...request.gateway, routing: { ...routing, only } },
  };
}

/** @param name of a provider, or of one of its endpoints */
function isOf(provider: string, name: string): boolean {
  return name === provider || name.startsWith(`${provider}/`);
}
