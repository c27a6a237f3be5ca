// A request that names its client's last answer, for its upstream to compare with: the upstream's own id takes the place
// of the gateway's, in the parsed body and in its bytes. The records know it, and whose it is.
import { editJson, jsonBytes, type JsonObject } from '../../base/json/index.ts';
import { joined } from '../../base/lib/slices.ts';
import type { EarlierAnswer } from '../../protocols/index.ts';
import type { LedgerStore } from '../../accounts/ports/index.ts';
import type { ApiCall } from '../call.ts';
import { findRemote } from '../remote-answer.ts';

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
