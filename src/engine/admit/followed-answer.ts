// Requests that go on from an answer which an upstream keeps, or name it for the upstream to compare with. The records know where
// it is, and whose.
import { type CanonicalRequest, type FollowedAnswer, GatewayError } from '../../canonical/index.ts';
import type { LedgerStore } from '../../accounts/ports/index.ts';
import type { ApiCall } from '../call.ts';
import { findRemote } from '../remote-answer.ts';
import { editJson, jsonBytes, type JsonObject } from '../../base/json/index.ts';
import { joined } from '../../base/lib/slices.ts';
import type { EarlierAnswer } from '../../protocols/index.ts';

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

// A request that names its client's last answer, for its upstream to compare with: the upstream's own id takes the place
// of the gateway's, in the parsed body and in its bytes. The records know it, and whose it is.

/**
 * Puts the upstream's id into the call. An id that is unknown or another project's stays as it is: it names nothing
 * there.
 * @param body of the call
 * @param generationId that the body names
 */
export async function nameEarlier(
  call: ApiCall,
  body: JsonObject,
  { generationId, codec }: { readonly generationId: string; readonly codec: EarlierAnswer },
  ledger: LedgerStore,
): Promise<void> {
  const { principal, protocol } = call;
  const found = await findRemote(generationId, principal.projectId, protocol.name, ledger);
  if (!found) return;
  const set = codec.renamed(body, found.upstreamId);
  call.json = { ...body, ...set };
  call.body = jsonBytes(joined(editJson(call.body, { set })));
}
