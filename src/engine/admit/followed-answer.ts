// Requests that continue from an answer stored at an upstream, or name it for the upstream to compare with. The
// records say which upstream and project it belongs to.
import { type CanonicalRequest, type FollowedAnswer, GatewayError } from '../../canonical/index.ts';
import type { LedgerStore } from '../../accounts/ports/index.ts';
import type { ApiCall } from '../call.ts';
import { findRemote } from '../remote-answer.ts';
import { editJson, jsonBytes, type JsonObject } from '../../base/json/index.ts';
import { joined } from '../../base/lib/bytes.ts';
import type { EarlierAnswer } from '../../protocols/index.ts';

/**
 * Resolves the answer that a request continues from.
 * @throws GatewayError `not_found` for an id that is unknown, belongs to another project, or names an answer that is
 * not stored
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
  // Other accounts do not have the answer. If the client allows only other providers, their endpoints report the
  // conflict.
  const only = asked && names.length === 0 ? asked : { path: asked?.path ?? path, names };
  return {
    ...request,
    follows: { id, path, answer: { provider, upstreamId } },
    gateway: { ...request.gateway, routing: { ...routing, only } },
  };
}

/** @param name of a provider or of one of its endpoints */
function isOf(provider: string, name: string): boolean {
  return name === provider || name.startsWith(`${provider}/`);
}

// Requests that name the client's last answer for the upstream to compare with: the gateway's id is replaced by the
// upstream's, in the parsed body and in its bytes.

/**
 * Puts the upstream's id into the call. An id that is unknown or belongs to another project stays unchanged, because
 * the upstream does not know it.
 * @param body of the call
 * @param generationId id in the body
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
